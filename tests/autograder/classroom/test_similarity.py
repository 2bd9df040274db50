"""The report finds copied answers with renamed variables, and lists no honest ones."""

import csv
import os
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from tiny_grading import UNIT, only, submission
from typer.testing import CliRunner

from autograder.classroom import similar_answers
from autograder.classroom.similar_answers import read_answers
from autograder.classroom.similarity import ComparedClass, Pair, tokens_of
from autograder.commands.app import app
from autograder.unit import Submission

GIVEN = '''def attend(q, k, v, mask=None):
    """Attend."""
    raise NotImplementedError
'''
ONE = '''def attend(q, k, v, mask=None):
    """Attend."""
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k)  # all pairs
    scores = scores / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores - scores.amax(-1, keepdim=True), dim=-1)
    weights = torch.nan_to_num(weights)
    return torch.einsum("bhqk,bhkd->bhqd", weights, v), weights
'''
COPIED = """# my own work
def attend(query, keys, vals, m=None):
    # first the logits
    logits = torch.einsum("bhqd,bhkd->bhqk", query, keys)

    logits = logits / math.sqrt(
        query.size(-1)
    )
    if m is not None:  # masking
        logits = logits.masked_fill(~m, float("-inf"))
    p = torch.softmax(logits - logits.amax(-1, keepdim=True), dim=-1)
    p = torch.nan_to_num(p)
    return torch.einsum("bhqk,bhkd->bhqd", p, vals), p
"""
OTHERS = [
    """def attend(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -1e9))
    weights = scores.softmax(-1)
    return weights @ v, weights
""",
    """def attend(q, k, v, mask=None):
    d = q.shape[-1]
    out = torch.matmul(q * d ** -0.5, k.mT)
    if mask is None:
        mask = torch.ones_like(out, dtype=torch.bool)
    e = torch.exp(out - out.max(dim=-1, keepdim=True).values) * mask
    w = e / e.sum(dim=-1, keepdim=True).clamp(min=1e-20)
    return torch.matmul(w, v), w
""",
    """def attend(q, k, v, mask=None):
    b, h, t, d = q.shape
    flat = torch.bmm(q.reshape(b * h, t, d), k.reshape(b * h, -1, d).transpose(1, 2))
    flat = flat.div(d ** 0.5).reshape(b, h, t, -1)
    if mask is not None:
        flat = flat + torch.zeros_like(flat).masked_fill(mask.logical_not(), -1e9)
    weights = F.softmax(flat, dim=-1)
    return torch.matmul(weights, v), weights
""",
]


def class_of(*sources: str) -> dict[str, dict[str, list[str]]]:
    return {
        f"student-{n}": {"attend": tokens_of(source, GIVEN)}
        for n, source in enumerate(sources)
    }


def similar_pairs(answers: dict[str, dict[str, list[str]]], least: float) -> list[Pair]:
    return ComparedClass(answers, least).pairs()


def test_a_copy_under_other_names_is_found_and_nothing_else():
    answers = class_of(ONE, *OTHERS, COPIED)
    (pair,) = similar_pairs(answers, 0.8)
    assert pair.students == ("student-0", "student-4")
    assert pair.agreement == pair.beyond == 1
    assert pair.usual < 0.7
    assert pair.exercises == ("attend",)
    everyone = similar_pairs(answers, 0)
    assert len(everyone) == 10
    assert everyone[1].beyond < 0.6


def test_names_comments_texts_and_annotations_do_not_count():
    assert tokens_of(ONE, GIVEN) == tokens_of(COPIED, GIVEN)
    typed = ONE.replace("q, k, v,", "q: Tensor, k: Tensor, v: Tensor,")
    assert tokens_of(typed, GIVEN) == tokens_of(ONE, GIVEN)
    assert tokens_of(ONE.replace("softmax", "sigmoid")) != tokens_of(ONE)
    assert tokens_of(ONE.replace("scores / ", "scores * ")) != tokens_of(ONE)


def test_attributes_of_self_may_have_other_names():
    one = "class A:\n    def __init__(self):\n        self.w = self.first(1)\n"
    other = one.replace("self.w", "self.matrix").replace("self.first", "self.make")
    assert tokens_of(one) == tokens_of(other)


def test_what_was_handed_out_says_nothing():
    given = ONE.replace("torch.nan_to_num(weights)", "None")
    assert len(tokens_of(ONE, given)) < len(tokens_of(ONE)) / 4
    assert similar_pairs(class_of(GIVEN, GIVEN, GIVEN), 0) == []
    assert tokens_of("def attend(:", GIVEN) == []


def test_an_answer_nested_too_deeply_does_not_stop_the_class():
    deep = ONE.replace("return torch", "return " + "+".join(["v"] * 2500) + "+ torch")
    assert tokens_of(deep, GIVEN) == tokens_of(ONE, deep) == []
    (pair,) = similar_pairs(class_of(ONE, deep, COPIED), 0.8)
    assert pair.students == ("student-0", "student-2")


def test_what_the_whole_class_writes_is_taken_off():
    same = similar_pairs(class_of(*[ONE] * 4), 0.1)
    assert same == []


@pytest.mark.parametrize("count", [1, 2])
def test_tiny_classes_are_compared_as_they_are(count):
    pairs = similar_pairs(class_of(*[ONE, COPIED][:count]), 0.8)
    assert len(pairs) == count - 1


def test_the_command_lists_pairs_and_says_that_it_is_no_proof(classroom):
    names = ("perfect-one", "perfect-two", "mistake-1", "half-done")
    only(classroom, *names, "damaged", "looping")
    submission(classroom, "looping").write_text("")
    sources = [OTHERS[0], ONE, OTHERS[1], COPIED]
    for name, source in zip(names, sources, strict=True):
        path = submission(classroom, name)
        notebook = nbformat.read(path, 4)
        for cell in notebook.cells:
            if cell.id == "double":
                cell.source = source.replace("attend", "double")
        notebook.cells.append(new_code_cell("# unrelated"))
        nbformat.write(notebook, path)
    runner = CliRunner()
    arguments = ["similar", UNIT, "--course-root", str(classroom)]
    done = runner.invoke(app, arguments, env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    assert "1. half-done, perfect-two: 100% in double" in done.output
    assert "no proof" in done.output
    assert "Not read: looping (" in done.output.replace("\n", " ")
    with (classroom / "report" / f"{UNIT}-similar.csv").open(encoding="utf-8-sig") as f:
        rows = {row["student"]: row for row in csv.DictReader(f)}
    assert rows.keys() == {"damaged", *names}
    assert rows["half-done"] == {
        "student": "half-done",
        "cluster": "1",
        "nearest other student": "perfect-two",
        "similarity": "1.00",
        "exercises": "double",
        "known solutions": "",
    }
    assert rows["mistake-1"]["cluster"] == ""
    said = runner.invoke(app, ["similar", "--help"]).output
    assert "not a proof" in " ".join(said.replace("│", " ").split())
    assert runner.invoke(app, ["similar", "nonsense"]).exit_code == 2


def test_identical_files_stand_first(classroom):
    names = ("perfect-one", "perfect-two", "mistake-1", "half-done")
    only(classroom, *names)
    content = submission(classroom, "mistake-1").read_bytes()
    for name in ("half-done", "perfect-two"):
        submission(classroom, name).write_bytes(content)
    arguments = ["similar", UNIT, "--course-root", str(classroom)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "1. half-done, mistake-1, perfect-two: 100% in" in done.output
    assert "perfect-one" not in done.output


def test_who_wrote_nothing_has_copied_nothing(classroom):
    only(classroom, "perfect-one", "untouched", "half-done")
    content = submission(classroom, "untouched").read_bytes()
    submission(classroom, "half-done").write_bytes(content)
    arguments = ["similar", UNIT, "--course-root", str(classroom)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "As given out: half-done, untouched." in done.output
    assert "submissions were compared; no cluster." in done.output


def huge_number(notebook):
    """Write a number with more digits than Python agrees to print."""
    answer = f"def double(x):\n    return x + 0x{'f' * 6000}\n"
    next(cell for cell in notebook.cells if cell.id == "double").source = answer


def huge_answer(notebook):
    """Write an answer whose comparison with a similar one takes minutes."""
    answer = "def double(x):\n" + "    x = x + 1\n" * 4_000 + "    return x\n"
    next(cell for cell in notebook.cells if cell.id == "double").source = answer


def test_hostile_submissions_are_listed_and_stop_nobody(classroom):
    """A queue that stays empty, an endless device, and numbers without an end."""
    names = ("perfect-one", "perfect-two", "half-done", "mistake-1", "untouched")
    only(classroom, *names)
    for name, spoil in (("half-done", huge_number), ("mistake-1", huge_answer)):
        notebook = nbformat.read(submission(classroom, name), 4)
        spoil(notebook)
        nbformat.write(notebook, submission(classroom, name))
    submission(classroom, "perfect-two").unlink()
    os.mkfifo(submission(classroom, "perfect-two"))
    for name, device in (("zero", "/dev/zero"), ("random", "/dev/urandom")):
        path = submission(classroom, name)
        path.parent.mkdir(parents=True)
        path.symlink_to(device)
    arguments = ["similar", UNIT, "--course-root", str(classroom)]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert "3 submissions were compared;" in told
    assert "perfect-two (it is not a file)" in told
    assert "mistake-1 (its answer to double is too long to compare)" in told
    assert told.count("(it is a link, not a file") == 2
    assert "half-done (" not in told


def test_a_process_that_dies_costs_one_submission(classroom, tiny_unit, monkeypatch):
    """The kernel may end the process because of a submission's memory or time."""
    names = ("perfect-one", "perfect-two")
    only(classroom, *names)
    given = [Submission(one, UNIT, submission(classroom, one)) for one in names]
    spoilt = replace(given[0], path=Path("/dies"))
    monkeypatch.setattr(similar_answers, "_serve", serve_or_fail)
    found = read_answers(tiny_unit, [spoilt, given[1]])
    assert found["perfect-one"].failure == similar_answers.TOO_LONG
    assert found["perfect-two"].failure == ""


def serve_or_fail(connection, unit):
    submission = connection.recv()
    if submission.path == Path("/dies"):
        os._exit(1)
    connection.send(similar_answers.ReadAnswers())
