"""Run all answer notebooks on another Python with the newest packages.

`make test-python PYTHON=/path/to/python3.12` makes a virtual environment under
`build/pythons/`. It contains only the packages that the published repository asks
students to install, without pinned versions. Each answer notebook runs there, next to
the kit that students receive.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

from autograder.assemble import run_notebook as running
from autograder.assemble.run_notebook import run_notebook
from autograder.course import Course, Unit, load_course
from autograder.publish.contents import students_requirements

PRIVATE = ("nbgrader", "autograder")
VERSIONS = """
import json, platform, sys
from importlib import metadata

if sys.platform == "linux":
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
else:
    system = platform.platform()

named = ("torch", "numpy", "matplotlib", "spacy", "sacrebleu")
versions = {name: metadata.version(name) for name in named}
python = platform.python_version()
print(json.dumps({"system": system, "python": python, **versions}))
"""


def make_environment(course: Course, python: Path) -> Path:
    """Install the newest packages that students need, and return the new interpreter.

    Raises:
        subprocess.CalledProcessError: if a package cannot be installed.
    """
    name = _answer(python, "import sys; print(*sys.version_info[:2], sep='.')")
    home = course.root / "build" / "pythons" / name.strip()
    made = home / "bin" / "python"
    if not made.exists():
        subprocess.run([str(python), "-m", "venv", str(home)], check=True)
    install = [str(made), "-m", "pip", "install", "--quiet"]
    needed = students_requirements(course, *course.units)
    subprocess.run([*install, *needed], check=True)
    return made


def _answer(python: Path, code: str) -> str:
    command = [str(python), "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def require_bare(python: Path) -> None:
    """Refuse an environment with more than a student has.

    Raises:
        SystemExit: if one of the course's private packages can be imported.
    """
    for module in PRIVATE:
        command = [str(python), "-c", f"import {module}"]
        if subprocess.run(command, cwd="/", capture_output=True).returncode == 0:
            raise SystemExit(
                f"{python} can import {module}: expected a bare environment"
            )


def use_kernel(python: Path, home: Path) -> None:
    """Make `python3` the kernel of `python` in this process.

    Raises:
        SystemExit: if a different kernel starts.
    """
    folder = home / "kernels" / "python3"
    folder.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = str(home)
    os.environ.pop("PYTHONPATH", None)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    running.SECONDS_A_CELL = 3600  # no limit, because other programs run
    asked = f"import sys\nassert sys.executable == {str(python)!r}, sys.executable"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(asked)])
    nbformat.write(notebook, home / "which.ipynb")
    if errors := run_notebook(home / "which.ipynb", home):
        raise SystemExit(f"the kernel is not {python} but {errors[0].message}")


def run_unit(course: Course, unit: Unit, home: Path) -> dict[str, object]:
    """Run a unit's answer notebook next to its kit, and return the result."""
    folder = Path(shutil.copytree(course.release_dir(unit), home / unit.slug))
    begun = processor_seconds()
    errors = run_notebook(course.answer_notebook(unit), folder)
    return {
        "unit": unit.slug,
        "passed": not errors,
        "processor_seconds": round(processor_seconds() - begun, 1),
        "errors": [f"{one.cell_id}: {one.name}: {one.message}" for one in errors],
    }


def processor_seconds() -> float:
    """Return the processor time of the kernels that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(path: Path, versions: dict[str, str], row: dict) -> None:
    """Write the figures of one unit into the file with the figures of all Pythons."""
    found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    minor = ".".join(versions["python"].split(".")[:2])
    units = {one["unit"]: one for one in found.get(minor, {}).get("units", [])}
    units[row["unit"]] = row
    rows = [units[name] for name in sorted(units)]
    found[minor] = {**versions, "units": rows}
    text = json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> int:
    """Read the command line, run the notebooks, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", type=Path, help="such as /usr/bin/python3.13")
    parser.add_argument("--units", nargs="+", help="such as 04 05; default: all")
    parser.add_argument("--record", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    course = load_course()
    units = [course.unit(n) for n in options.units] if options.units else course.units
    python = make_environment(course, options.python)
    require_bare(python)
    versions = json.loads(_answer(python, VERSIONS))
    rows = []
    table = Table("unit", "result", "processor time", title=_title(versions))
    with tempfile.TemporaryDirectory(prefix="course-python-") as name:
        use_kernel(python, Path(name) / "jupyter")
        for unit in units:
            rows.append(run_unit(course, unit, Path(name)))
            table.add_row(*_row(rows[-1]))
            print(*_row(rows[-1]), sep="\t", flush=True)
            if options.record:
                record(options.record, versions, rows[-1])
    Console().print(table)
    return 0 if all(row["passed"] for row in rows) else 1


def _title(versions: dict[str, str]) -> str:
    return f"Python {versions['python']}, torch {versions['torch']}"


def _row(row: dict) -> tuple[str, str, str]:
    result = "passed" if row["passed"] else "; ".join(row["errors"])
    return row["unit"], result, f"{row['processor_seconds']} s"


if __name__ == "__main__":
    sys.exit(main())
