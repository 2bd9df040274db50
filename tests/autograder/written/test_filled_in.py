"""Tables of points that a human filled in part by part, or with mistakes."""

import pytest

from autograder.written.filled_in import MarksError, read_tables, refuse
from autograder.written.rubric import Rubric

RUBRICS = [Rubric("why", 15, "Why?", "1. (6 points) …", (6, 5, 4))]
HEADING = "student,question,of,part 1,part 2,part 3,points,comment\n"


@pytest.fixture
def read(tmp_path):
    def write_and_read(*rows: str):
        path = tmp_path / "t.csv"
        text = HEADING + "".join(f"a,why,15,{row},\n" for row in rows)
        path.write_text(text, encoding="utf-8")
        marks, faults = read_tables([path], {}, RUBRICS)
        refuse(faults)
        return marks

    return write_and_read


@pytest.mark.parametrize(
    ("row", "points"),
    [
        ("6,2.5,0,", 8.5),
        ("6,2.5,0,8.5", 8.5),
        (",,,8.5", 8.5),
        ('6,"2,5",0,"8,50"', 8.5),
        (",,,", None),
    ],
)
def test_points_stand_as_a_whole_or_part_by_part(read, row, points):
    assert [mark.points for mark in read(row)] == [points]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("4,,,", "row 2: 1 of 3 parts are given: write 0 where one earns nothing."),
        ("7,0,0,", "row 2: '7': expected points, 0 to 6."),
        (
            "4,3,0,9",
            "row 2: points 9, but the parts add up to 7: empty one of the two.",
        ),
    ],
)
def test_a_slip_is_named_with_what_to_do(read, row, words):
    with pytest.raises(MarksError, match=words):
        read(row)


def test_of_many_slips_the_first_are_named(read):
    with pytest.raises(MarksError) as slips:
        read("6,5,4,", *["7,0,0,"] * 58)
    said = str(slips.value).splitlines()
    assert len(said) == 51
    assert "row 3:" in said[0]
    assert said[-1] == "And 8 more."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_what_spreadsheets_save_is_read(tmp_path, encoding, separator, line_end):
    rows = ["student,question,points,comment", "a,why,8,größer", "b,why,9,"]
    text = line_end.join(rows).replace(",", separator)
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    found, _ = read_tables([path], {}, RUBRICS)
    assert [(one.student, one.points, one.comment) for one in found] == [
        ("a", 8, "größer"), ("b", 9, ""),
    ]  # fmt: skip
