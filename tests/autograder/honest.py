"""Honest notebooks: right answers in every style of working must get full marks."""

from handing_in import FULL, RIGHT, WHY, Collection, HandIn, code, markdown

HONEST = Collection()

HONEST.cells(
    "does what students do in their own cells",
    FULL,
    warns="import warnings\nwarnings.warn('mind the gap')\nimport sys\n"
    "print('careful', file=sys.stderr)",
    logs="import logging\nlogging.basicConfig(level='DEBUG')\nlogging.error('oh')",
    prints="print(double(torch.ones(3)))\nScaler(2)",
    plots="import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.figure()",
    magics="%matplotlib inline\n%time x = 1\n!echo hello\n%%capture\n",
    cell_magic="%%time\nx = double(torch.ones(2))",
    imports_slowly="import time\ntime.sleep(0.8)\nimport sqlite3, unittest, wave",
    asserts_wrongly="assert 1 == 2, 'my own test fails'",
    has_a_syntax_error="def half(:",
    reads_a_missing_file="open('my-data.csv').read()",
    wants_colab="from google.colab import drive\ndrive.mount('/content/drive')",
    asks_for_input="name = input('Who are you? ')",
    writes_files="with open('notes.txt', 'w') as file:\n    file.write('x' * 1000)\n"
    "torch.save(Scaler(2).state_dict(), 'weights.pt')\ntorch.load('weights.pt')",
    uses_threads="torch.set_num_threads(4)\nlarge = torch.randn(400, 400)\n"
    "print((large @ large).shape)\n"
    "import threading\nthreading.Thread(target=print, args=('hi',)).start()",
    uses_processes="import subprocess\nsubprocess.run(['ls'])",
    awaits="import asyncio\nawait asyncio.sleep(0.01)\nprint('awaited')",
    exits="import sys\nsys.exit('done')",
    trains="model = Scaler(4)\nbest = torch.optim.Adam(model.parameters())\n"
    "for _ in range(5):\n    loss = (model(torch.randn(8, 4)) ** 2).mean()\n"
    "    best.zero_grad(); loss.backward(); best.step()",
    seeds_and_precision="torch.manual_seed(3)\ntorch.set_printoptions(precision=10)\n"
    "torch.set_grad_enabled(True)\ntorch.use_deterministic_algorithms(True)",
    many_figures="import matplotlib.pyplot as plt\n"
    "for _ in range(25):\n    plt.figure()\n    plt.plot([1, 2])",
)

STYLES = {
    "annotated": "def double(x: torch.Tensor, *, by: float = 2.0) -> torch.Tensor:\n"
    '    """Return twice ``x``."""\n    print("called", x.shape)\n    return x * by',
    "a_lambda": "double = lambda x: x + x",
    "decorated": "import functools\n\n@functools.wraps(print)\n@torch.no_grad()\n"
    "def double(x):\n    return torch.add(x, x)",
    "with_helpers": "def _twice(x):\n    return x + x\n\n"
    "def double(x):\n    return _twice(x)\n"
    "\nassert double(torch.ones(1)) == 2\ndouble(torch.ones(2))",
    "under_a_magic": "%%time\ndef double(x):\n    return 2 * x",
    "with_a_magic_inside": "%timeit -n 1 -r 1 1 + 1\ndef double(x):\n    return 2 * x",
    "below_the_stub": "def double(x):\n    raise NotImplementedError\n\n"
    "def double(x):\n    return 2 * x",
    "warning_at_each_call": "import warnings\ndef double(x):\n"
    "    warnings.warn('slow')\n    return torch.stack([x, x]).sum(0)",
    "a_callable_object": "class Double:\n    def __call__(self, x):\n"
    "        return x * 2\n"
    "double = Double()",
    "in_loops": "def double(x):\n    out = torch.empty_like(x)\n"
    "    for index in range(x.numel()):\n"
    "        out.view(-1)[index] = x.reshape(-1)[index] * 2\n    return out",
    "numpy_inside": "def double(x):\n    return torch.from_numpy(x.numpy() * 2)",
    "scripted": "@torch.jit.script\ndef double(x):\n    return 2 * x",
}


def _styled(source: str):
    def build(hand: HandIn) -> None:
        hand.right()
        hand.answer("double", source)

    return build


for _name, _source in STYLES.items():
    HONEST.add(_name, "writes its answer in a style of its own", _styled(_source), FULL)


@HONEST.case("has cells, text and files of its own everywhere", score=FULL)
def many_extras(hand: HandIn) -> None:
    hand.right()
    for place in range(0, 2 * len(hand.cells), 2):
        hand.cells.insert(place, code(f"note_{place} = {place}\nnote_{place}"))
    hand.cells += [markdown("# My notes\n\n![a plot](plot.png)"), code("")]
    hand.beside("plot.png", b"\x89PNG\r\n\x1a\n")
    hand.beside("my notes/summary.txt", "notes")
    hand.beside("helpers.py", "x = 1\n")


@HONEST.case("has outputs, run counts and widgets saved in it", score=FULL)
def saved_state(hand: HandIn) -> None:
    hand.right()
    hand.raw["metadata"]["widgets"] = {"state": {"a": 1}}
    for number, cell in enumerate(hand.cells):
        if cell["cell_type"] == "code":
            cell["execution_count"] = 100 - number
            text = ["warning: a\n", "b\n"]
            stderr = {"output_type": "stream", "name": "stderr", "text": text}
            cell["outputs"] = [stderr]


@HONEST.case("changes the cell of imports and runs a demonstration", score=FULL)
def changed_imports(hand: HandIn) -> None:
    hand.right()
    imports = next(c for c in hand.cells if c["id"] == "imports")
    imports["source"] += "\nimport math, os\nimport numpy as np"
    hand.answer("double", "def double(x):\n    return x * math.sqrt(4) * np.float32(1)")


@HONEST.case("has only the answers, and a long text", score=FULL)
def only_answers(hand: HandIn) -> None:
    hand.right()
    hand.answer("why", WHY * 200)
    hand.raw["cells"] = [
        c
        for c in hand.cells
        if c["metadata"].get("nbgrader", {}).get("solution") or c["id"] == "imports"
    ]


@HONEST.case("uses what the kit offers, and one answer in another", score=FULL)
def uses_the_kit(hand: HandIn) -> None:
    hand.right()
    hand.answer("double", "import tiny.basis\n" + RIGHT["double"])
    hand.answer(
        "quadruple", "def quadruple(x):\n    return tiny.basis.FACTOR * double(x)"
    )
