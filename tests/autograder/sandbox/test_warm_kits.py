"""A kit that was imported before a student came serves only its own unit."""

import torch
from students_in_children import DEFINES, printed, run

from autograder.sandbox.kit import WarmKit, label_of

KIT = {
    "transformer/__init__.py": b"",
    "transformer/answer.py": b"import itertools\n\nVALUE = 6\nSEEN = []\n",
}
ASKS = "from transformer import answer\n\ndef double(x):\n    return x * answer.VALUE\n"
SHOWS = (
    "import sys\nprint(sorted(n for n in sys.modules if n.startswith('transformer')))\n"
)


def warmed(parent, kit=KIT):
    parent.warm(WarmKit(label_of(kit), dict(kit), [], ["transformer.answer"]))
    return parent


def test_a_warm_kit_is_there_for_those_who_get_its_files(remote, parent):
    warmed(parent)
    students = remote(SHOWS, ASKS, "print(answer.__file__)", **KIT)
    assert torch.equal(run(students), torch.full((2,), 6.0))
    shown, place = (one.outputs[0]["text"] for one in students.runs if one.outputs)
    expected = ["transformer", "transformer.answer"] if parent.is_protected else []
    assert shown == f"{expected}\n"
    assert place.endswith("/transformer/answer.py\n")


def test_what_one_child_does_to_a_warm_kit_no_other_sees(remote, parent):
    warmed(parent)
    spoils = "answer.VALUE = 7; answer.SEEN.append(1)"
    assert torch.equal(run(remote(ASKS, spoils, **KIT)), torch.full((2,), 7.0))
    students = remote(ASKS, "print(answer.VALUE, answer.SEEN)", **KIT)
    run(students)
    assert printed(students) == "6 []\n"


def test_a_warm_kit_is_not_there_for_those_who_get_other_files(remote, parent):
    warmed(parent)
    students = remote(
        "try:\n    import transformer\nexcept ImportError as e:\n    print(e)", DEFINES
    )
    run(students)
    assert "No module named 'transformer'" in printed(students)
    other = {**KIT, "transformer/answer.py": b"VALUE = 9\n"}
    assert torch.equal(run(remote(ASKS, **other)), torch.full((2,), 9.0))


def test_one_warm_kit_takes_the_place_of_another(remote, parent):
    warmed(parent)
    other = {**KIT, "transformer/answer.py": b"VALUE = 9\n"}
    warmed(parent, other)
    assert torch.equal(run(remote(ASKS, **other)), torch.full((2,), 9.0))
    assert torch.equal(run(remote(ASKS, **KIT)), torch.full((2,), 6.0))


HUNTS = """
import gc
from torch import nn
gc.unfreeze()
classes = [c.__name__ for c in nn.Module.__subclasses__()]
functions = [getattr(x, "__name__", "") for x in gc.get_objects() if callable(x)]
print("Secret" in classes, "secret_function" in functions)
"""
LATER = {
    **KIT,
    "transformer/answer.py": b"from torch import nn\n\n"
    b"class Secret(nn.Module):\n    pass\n\n"
    b"def secret_function():\n    return Secret\n",
}


def test_a_later_units_kit_cannot_be_found_in_memory(remote, parent):
    warmed(parent, LATER)
    run(remote(DEFINES, **LATER))
    for files in (KIT, {}):
        students = remote(HUNTS, DEFINES, **files)
        run(students)
        assert printed(students) == "False False\n"
