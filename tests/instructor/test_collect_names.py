"""What `course collect` reads from the names of files and from a roster."""

import pytest
from hypothesis import example, given
from hypothesis.strategies import text

from autograder.collect import CollectError
from autograder.collect.names import take_apart
from autograder.collect.roster import read_roster
from autograder.collect.words import folder_name
from autograder.grading.student_names import is_safe_name

SLUGS = ("01_tiny", "04_attention")


@pytest.mark.parametrize(
    ("path", "people", "stem", "more"),
    [
        ("lovelaceada_12_345_04_attention.ipynb", "lovelaceada", "04_attention",
         {"user": "12", "file": 345}),
        ("lovelaceada_LATE_12_345_04_attention-1.ipynb", "lovelaceada",
         "04_attention", {"late": True, "version": 1}),
        ("lovelaceada_12_345_work.zip/hw/04_attention.ipynb", "lovelaceada",
         "04_attention", {"file": 345}),
        ("Ada Lovelace_77_assignsubmission_file_/04_attention.ipynb",
         "Ada Lovelace", "04_attention", {"participant": "77", "user": ""}),
        ("Ada Lovelace_77_assignsubmission_file_04_attention (2).ipynb",
         "Ada Lovelace", "04_attention", {"version": 2}),
        ("Ada Lovelace - 04_attention.ipynb", "Ada Lovelace", None, {}),
        ("Copy of 04_attention - Ada Lovelace.ipynb", "Ada Lovelace", None, {}),
        ("Ada Lovelace/Colab Notebooks/Copy of Copy of 04_attention.ipynb",
         "Ada Lovelace", "04_attention", {}),
        ("Attention-20261121T201500Z-001.zip/Ada Lovelace/04_attention (1).ipynb",
         "Ada Lovelace", "04_attention", {"version": 1}),
        ("04_attention_lovelace_v2_final.ipynb", "lovelace", None, {}),
        ("al1815/04_attention/anything.ipynb", "al1815", "anything",
         {"platform": "nbgrader"}),
        ("秦九韶 - 04_attention.ipynb", "秦九韶", None, {}),
        ("04_attention (1).ipynb", None, "04_attention", {"version": 1}),
        ("Drive-20261121T201500Z-001.zip/Copy_of_04_attention.ipynb", None,
         "04_attention", {}),
    ],
)  # fmt: skip
def test_names_of_the_platforms(path, people, stem, more):
    named = take_apart(tuple(path.split("/")), SLUGS)
    assert (named.people or (None,))[0] == people
    assert stem in (None, named.stem)
    assert {key: getattr(named, key) for key in more} == more


@pytest.mark.parametrize("text", ["../..", "..", ".git", "a/b", "A\\B", "x\0y", "~"])
def test_a_students_name_is_never_a_path(text):
    found = folder_name(text)
    assert found == "" or found[0].isalnum()
    assert not set(found) & set("/\\\0~")


@given(text())
@example('<img src=x onerror="steal()">')
def test_no_name_of_a_file_can_act_in_formgrader(written):
    assert is_safe_name(folder_name(written))


def test_no_id_of_a_roster_can_act_in_formgrader(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text('id,first_name,last_name\n"<b onclick=""steal()"">",Ada,Lovelace\n')
    assert list(read_roster(path).students) == ["b-onclick-steal"]


@pytest.mark.parametrize(
    "text",
    [
        "Student,ID,SIS User ID,SIS Login ID,Section\n"
        '    Points Possible,,,,\n"Lovelace, Ada",101,x,al1815,A\n"Student, Test",\n',
        "First name;Surname;ID number;Email address\nAda;Lovelace;al1815;a@b.c\n",
        "\ufeffname\tid\nAda Lovelace\tal1815\n",
        "name,email\nAda Lovelace,al1815@example.org\n",
    ],
)
def test_rosters_of_the_platforms(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    found = read_roster(path)
    assert list(found.students) == ["al1815"]
    for who in ("lovelaceada", "Ada Lovelace", "Lovelace, Ada", "al1815"):
        assert found.find([who]).id == "al1815"
    assert found.find(["Lovelace"]) is None


def test_a_roster_is_refused_with_reasons(tmp_path, roster):
    roster.write_text("colour,size\nred,4\n")
    with pytest.raises(CollectError, match="expected a heading with id"):
        read_roster(roster)
    roster.write_text("id,name\nx,Ada Lovelace\nx,Emmy Noether\n")
    with pytest.raises(CollectError, match="the id 'x' is missing or there twice"):
        read_roster(roster)
