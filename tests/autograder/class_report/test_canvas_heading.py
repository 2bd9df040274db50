"""The scores for Canvas have the assignment's heading from Canvas's own export."""

import csv

import pytest
from tiny_grading import UNIT, grade, only
from typer.testing import CliRunner

from autograder.collect.canvas_assignments import (
    FILE,
    columns_of,
    keep_assignments,
    kept_assignments,
)
from autograder.commands.app import app
from autograder.course import Unit

ATTENTION = Unit(4, "04_attention", "Scaled dot-product attention", ())
MINE = "04 Scaled dot-product attention (99104)"


@pytest.mark.parametrize(
    ("headings", "found"),
    [
        ([MINE, "05 Multi-head attention (99105)"], [MINE]),
        (["04_attention (7)", "Quiz 4 (8)"], ["04_attention (7)"]),
        (["Attention (7)", "Multi-head attention (8)"], ["Attention (7)"]),
        (["Unit 4: homework (7)", "14 Homework (8)"], ["Unit 4: homework (7)"]),
        (["04 homework (7)", "Scaled dot-product attention (8)"],
         ["Scaled dot-product attention (8)"]),
        (["Einheit vier (7)", "Aufmerksamkeit (8)"], ["Aufmerksamkeit (8)"]),
        (["Quiz 4 (7)", "4th quiz (6)", "40 Homework (8)",
          "05 Attention (9)"], []),
        ([MINE, MINE.replace("99104", "12")], [MINE, MINE.replace("99104", "12")]),
        ([], []),
    ],
)  # fmt: skip
def test_a_units_column_is_found_by_title_then_by_number(headings, found):
    assert columns_of(ATTENTION, headings, ["Aufmerksamkeit"]) == found


def test_headings_are_kept_until_another_export_comes(tmp_path):
    assert kept_assignments(tmp_path) == []
    keep_assignments(tmp_path, [MINE, "Final Score", "Assignments Current Points"])
    assert kept_assignments(tmp_path) == [MINE]
    keep_assignments(tmp_path, [])
    assert kept_assignments(tmp_path) == [MINE]
    for damaged in ("{", "5", "[5]"):
        (tmp_path / "collected" / FILE).write_text(damaged)
        assert kept_assignments(tmp_path) == []


def test_the_collected_roster_gives_the_heading(classroom, tmp_path):
    only(classroom, "perfect-one")
    root = ["--course-root", str(classroom)]
    assert grade(classroom).exit_code == 0
    arguments = ["report", "1", *root, "--to", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert f"Canvas's file has the heading {UNIT}." in done.output
    own = "01 Tiny: homework (99101)"
    roster = tmp_path / "export.csv"
    roster.write_text(
        f"Student,ID,SIS User ID,SIS Login ID,Section,{own},02 Next (5),Final Score\n"
        "    Points Possible,,,,,70,70,\n"
        '"One, Perfect",17,x,perfect-one,A,,,\n'
    )
    handed_in = classroom / "submitted" / "perfect-one" / UNIT / f"{UNIT}.ipynb"
    folder = tmp_path / "in"
    folder.mkdir()
    name = f"oneperfect_17_9_{UNIT}.ipynb"
    (folder / name).write_bytes(handed_in.read_bytes())
    collected = ["collect", str(folder), "--roster", str(roster), *root]
    assert CliRunner().invoke(app, collected).exit_code == 0
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert f"Canvas's file has the heading of your export: {own}" in done.output
    with (tmp_path / f"{UNIT}-canvas.csv").open(encoding="utf-8-sig") as file:
        heading, _, row = csv.reader(file)
    assert (heading[-1], row[heading.index("Section")]) == (own, "A")
