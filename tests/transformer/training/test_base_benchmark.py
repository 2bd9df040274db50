"""The benchmark of the paper's model times steps, and says how long all would take."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.mark.slow
def test_a_row_for_each_device_and_the_others_stay(tmp_path):
    result = tmp_path / "base_model.json"
    result.write_text('{"another": {"tokens_per_second": 7}}')
    code = "import sys, pathlib, processes"
    code += "; processes.BASE_RESULT = pathlib.Path(sys.argv.pop())"
    code += "; processes.main()"
    short = ["--base", "--tokens", 50, "--steps", 1]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, [*short, result])],
        cwd=BENCHMARKS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(result.read_text())
    assert found.pop("another") == {"tokens_per_second": 7}
    ((name, row),) = found.items()
    assert name.endswith("1 thread")
    assert row["tokens_of_a_batch"] == 50 and row["precision"] == "bfloat16"
    hours = 100_000 * 25_000 / row["tokens_per_second"] / 3600
    assert row["hours_of_100000_steps"] == pytest.approx(hours, rel=0.01)
