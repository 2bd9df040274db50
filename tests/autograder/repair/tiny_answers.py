"""Right answers to the tiny unit, and their form after a repair."""

import json

from autograder.repair import read_submission, rebuild

ANSWERS = {
    "double": "def double(x):\n    return 2 * x",
    "quadruple": "def quadruple(x):\n    return double(double(x))",
    "scaler": (
        "class Scaler(nn.Module):\n"
        "    def __init__(self, size):\n        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.ones(size))\n"
        "    def forward(self, x):\n        return x * self.weight"
    ),
    "why": "Because nothing and nothing is nothing.",
}


def grade_id(cell):
    """Return the nbgrader id of a raw cell."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def code(source, **metadata):
    """Return a raw code cell."""
    return {
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "id": f"x{abs(hash(source))}",
    }


def repaired(unit, raw, tmp_path):
    """Rebuild a submission from raw JSON."""
    path = tmp_path / "handed_in.ipynb"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return rebuild(unit, read_submission(path))


def answers_of(result):
    """Return the answers in a rebuilt submission."""
    found = {grade_id(c): c.source for c in result.notebook.cells if grade_id(c)}
    return {name: found[name] for name in ANSWERS}
