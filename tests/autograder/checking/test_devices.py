"""Checks on a different device have the same verdicts, and diagnose mixed devices.

Without a GPU, the tests use PyTorch's device "meta", which stores no values. They
therefore see where a tensor is made, but not which values the code computes.
"""

import pytest
import torch
from tiny_grading import EXPECTED, UNIT, grade, only, scores

from autograder.checking.failures import CheckFailed, StudentError
from autograder.checking.generic_checks import expect_no_traces, expect_same_device
from autograder.classroom.folder import ClassFolder
from autograder.course import load_course
from autograder.grading.points import run_checks
from autograder.proof.judging import answer_cells
from autograder.sandbox import LocalStudent
from autograder.sandbox.error_words import student_error
from autograder.sandbox.limits import Limits
from autograder.sandbox.student_side.meta_device import moved_away
from autograder.unit import graded_unit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
COURSE = load_course()
CELLS = [
    "import torch\nfrom torch import nn",
    "def where(x):\n    return str(x.device)",
    "def add_own(x):\n    return x + torch.ones(2)",
    "class Layer(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.linear = nn.Linear(2, 2)\n"
    "    def place(self):\n"
    "        return str(self.linear.weight.device)\n",
]
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def test_what_is_handed_over_goes_to_the_device():
    student = LocalStudent(CELLS, device="meta")
    assert student.where(torch.ones(2)) == "meta"
    assert student.Layer().place() == "meta"
    assert LocalStudent(CELLS).where(torch.ones(2)) == "cpu"


def test_in_a_child_too(parent):
    from autograder.sandbox.submission_runner import SubmissionRunner

    limits = Limits(cell_seconds=60, exercise_seconds=60, device="meta")
    with SubmissionRunner(parent, CELLS, {}, limits).fresh("any") as student:
        assert student.where(torch.ones(2)) == "meta"
        assert student.Layer().place() == "meta"


@pytest.mark.integration
def test_mixed_devices_are_an_error_of_the_student():
    with pytest.raises(StudentError, match="device"):
        LocalStudent(CELLS, device="meta").add_own(torch.ones(2))


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (
            "Expected all tensors to be on the same device, but found at least two "
            "devices, cuda:0 and cpu!",
            "cuda:0",
        ),
        ("Tensor on device cpu is not on the expected device mps:0!", "mps:0"),
    ],
)
def test_mixed_devices_are_explained(message, named):
    report = {"kind": "raised", "type": "RuntimeError", "message": message}
    words = student_error(report, "attend").message
    assert named in words
    assert "The tensors are on different devices" in words
    assert "device=x.device" in words


@pytest.mark.parametrize(
    "message", ["a cpu is a device", "cuda and cpu", "no device here", ""]
)
def test_other_errors_are_not_taken_for_it(message):
    report = {"kind": "raised", "type": "ValueError", "message": message}
    assert "different devices" not in student_error(report, "attend").message


def test_the_command_grades_on_a_named_device(classroom):
    only(classroom, "perfect-one", "mistake-1")
    assert grade(classroom, "--device", "cpu").exit_code == 0
    found = scores(classroom)
    assert found == {name: EXPECTED[name] for name in found}
    done = grade(classroom, "--device", "cpu")
    assert "as before" in done.output


def test_another_device_is_another_grading():
    assert Limits(device="cuda") != Limits()


@pytest.mark.parametrize("name", ["nonsense", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(classroom, name):
    done = grade(classroom, "--device", name)
    assert done.exit_code == 2
    assert "expected a device that this machine has" in done.output
    assert not (classroom / "gradebook.db").exists()


def test_the_settings_may_name_the_device(classroom):
    assert ClassFolder(classroom).limits.device == "cpu"
    assert ClassFolder(classroom, "cuda").limits.device == "cuda"
    assert graded_unit(UNIT, classroom).points


@needs_cuda
@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_every_answer_is_right_on_cuda(unit):
    graded = graded_unit(unit.slug)
    student = LocalStudent(answer_cells(COURSE, unit), device="cuda")
    results = run_checks(graded, student)
    wrong = [f"{r.name}: {r.message}" for r in results if r.status != "passed"]
    assert not wrong


def test_tied_parameters_stay_tied_on_the_other_device():
    layer = torch.nn.Linear(3, 3)
    moved = moved_away(torch.nn.ModuleList([layer, layer]), {})
    assert moved[0].weight is moved[1].weight
    assert moved[0].weight.is_meta
    assert layer.weight.device.type == "cpu"


def test_two_devices_are_found_without_a_gpu_in_a_child_too(parent):
    from autograder.sandbox.submission_runner import SubmissionRunner

    x, limits = torch.ones(2), Limits(cell_seconds=60, exercise_seconds=60)
    with SubmissionRunner(parent, CELLS, {}, limits).fresh("any") as student:
        expect_same_device(student, student.load("torch.exp"), x, what="the output")
        with pytest.raises(CheckFailed, match="two devices"):
            expect_same_device(student, student.add_own, x, what="the output")
        expect_no_traces(student, student.add_own, x)
