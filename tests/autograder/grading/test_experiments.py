"""A right notebook keeps its points, whatever experiments its student adds."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from handing_in import FULL, RIGHT, HandIn, code
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from autograder.grading.submission import grade_submission
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.integration]
PATIENT = Limits(cell_seconds=60, exercise_seconds=60, submission_seconds=300)
ANYWHERE = [
    *("%matplotlib inline", "%load_ext autoreload\n%autoreload 2", "len?", "!ls -l"),
    *("%%time\nsum(range(9))", "%%bash\necho hello", "%timeit -n1 -r1 1 + 1"),
    "from google.colab import drive\ndrive.mount('/content/drive')\nimport math",
    "!pip install einops\nimport einops",
    "import pandas as pd\ntable = pd.read_csv('data.csv')",
    *("name = input('Your name: ')", "torch.zeros(1, device='cuda')", "%run other.py"),
    *("assert False, 'remember this'", "raise ValueError", "unfinished = (", "1 / 0"),
    "mine = nn.Linear(3, 3)\nprint(mine(torch.ones(2, 3)))",
    "def experiment(x):\n    return 3 * x\nexperiment(torch.ones(2))",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "import threading\nthreading.Thread(target=print).start()",
    "torch.manual_seed(3)\nx = torch.randn(3, requires_grad=True)\nx.sum().backward()",
    "torch.set_default_dtype(torch.float64)\ntorch.set_default_dtype(torch.float32)",
    "class Experiment(nn.Module):\n    pass\nExperiment()",
    "with open('notes.txt', 'w') as file:\n    file.write('done')",
    "from __future__ import annotations\ny: Undefined = 3",
]
REUSES = [
    *("{name} = 3", "del {name}", "def {name}(x):\n    return None", "{name} += 1"),
    *(
        "for {name} in range(2):\n    pass",
        "import math as {name}",
        "{name} = {name}(3)",
    ),
    *(
        "class {name}:\n    pass",
        "with open('f', 'w') as {name}:\n    pass",
        "%reset -f",
    ),
    *("({name} := None)", "[{name}, other] = 1, 2", "globals().clear()"),
]
LAST_USE = {  # check name: after this check, no check needs the name
    **{"double": "quadruple-check", "quadruple": "quadruple-check"},
    **{"FACTOR": "quadruple-check", "Scaler": "scaler-check"},
    **{"torch": "scaler-check", "nn": "scaler-check", "Tensor": "scaler-check"},
}
ABOVE = ["", "%matplotlib inline", "drive.mount('/content')", "print(undefined)"]
ABOVE += [
    "import numpy as np",
    "device = torch.device('cuda')\ntorch.ones(1).to(device)",
]
BELOW = [
    "",
    "print(double(torch.ones(2)))",
    "assert False",
    "%timeit -n1 -r1 1",
    "1 / 0",
]
BELOW += ["expected = nn.Linear(3, 1)(torch.ones(2, 3))"]

places = st.integers(0, 1_000)
own_cells = st.lists(st.tuples(places, st.sampled_from(ANYWHERE)), max_size=6)
reuses = st.lists(
    st.tuples(places, st.sampled_from(REUSES), st.sampled_from([*LAST_USE])), max_size=4
)
lines = st.fixed_dictionaries(
    {name: st.tuples(st.sampled_from(ABOVE), st.sampled_from(BELOW)) for name in RIGHT}
)


def write(hand: HandIn, own, reused, around) -> None:
    """Write a right notebook with a student's additional cells and lines."""
    hand.right()
    for name, (above, below) in around.items():
        hand.answer(name, f"{above}\n{RIGHT[name]}\n{below}".strip())
    for place, source in own:
        hand.cells.insert(place % (len(hand.cells) + 1), code(source))
    for place, source, name in reused:
        check = (
            "scaler-check" if name not in source.format(name=name) else LAST_USE[name]
        )
        first = hand.at(check) + 1
        place = first + place % (len(hand.cells) + 1 - first)
        hand.cells.insert(place, code(source.format(name=name)))


def keeps_every_point(
    unit: GradedUnit, parent: ForkServerClient
) -> Callable[..., None]:
    """Return the property that a notebook with these parts earns full points."""

    def keeps(own, reused, around) -> None:
        with TemporaryDirectory() as folder:
            hand = HandIn(unit, Path(folder), "ada")
            write(hand, own, reused, around)
            hand.save()
            submission = Submission("ada", unit.slug, hand.path)
            outcome = grade_submission(unit, submission, PATIENT, parent)
            lost = [(r.title, r.message) for r in outcome.results if not r.points]
            assert (outcome.score, lost) == (FULL, []), outcome.reason

    return keeps


@pytest.mark.parametrize(
    "examples", [3, pytest.param(200, marks=pytest.mark.slow)], ids=str
)
def test_experiments_cost_nothing(examples, tiny_unit, parents):
    keeps = keeps_every_point(tiny_unit, parents("sandbox"))
    settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )(given(own_cells, reuses, lines)(keeps))()
