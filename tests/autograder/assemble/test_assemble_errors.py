"""Every error names file, line, cell and remedy, and changes nothing."""

from __future__ import annotations

import pytest

from autograder.assemble.assembler import assemble
from autograder.assemble.problems import AssemblyError

ONE = "solutions/notebooks/01_sums/01_sums.md"
TWO = "solutions/notebooks/02_means/02_means.md"
SUMS = "solutions/pocket/sums.py"
CHECKS = "autograder/checks/test_01_sums.py"

WRONG = [
    pytest.param(ONE, old, new, where, what, remedy, id=name)
    for name, old, new, where, what, remedy in [
        (
            "unknown module",
            "pocket.sums.add_up",
            "pocket.sum.add_up",
            "01_sums.md:25 (cell 'add-up')",
            "the answer 'pocket.sum.add_up' is unknown: there is no such module",
            "write pocket.MODULE.OBJECT",
        ),
        (
            "unknown function",
            "pocket.sums.add_up",
            "pocket.sums.addup",
            "01_sums.md:25 (cell 'add-up')",
            "the answer 'pocket.sums.addup' is unknown: pocket.sums defines no addup",
            "did you mean add_up",
        ),
        (
            "no markers",
            "pocket.sums.add_up",
            "pocket.sums.double",
            "01_sums.md:25 (cell 'add-up')",
            "the answer 'pocket.sums.double' has no markers",
            "### BEGIN SOLUTION and ### END SOLUTION",
        ),
        (
            "answer of another unit",
            "pocket.sums.add_up",
            "pocket.means.middle",
            "01_sums.md:25 (cell 'add-up')",
            "pocket.means is not a module of unit 01_sums",
            "course.toml",
        ),
        (
            "no answer",
            ":answer: pocket.sums.add_up\n",
            "",
            "01_sums.md:25",
            "the exercise has no answer",
            "add `:answer:",
        ),
        (
            "no points",
            ":points: 70\n",
            "",
            "01_sums.md:32",
            "a graded cell without points",
            "add `points`",
        ),
        (
            "points not 100",
            ":points: 70",
            ":points: 60",
            "01_sums.md",
            "the points add up to 90, expected 100 (add-up-check 60, why 20, essay 10)",
            "change the points",
        ),
        (
            "duplicate grade_id",
            '"readonly": "why-question"',
            '"readonly": "why"',
            "01_sums.md:",
            "the grade_id 'why' is also that of the cell in line",
            "another name",
        ),
        (
            "no hidden check",
            ":check: add-up",
            ":check: add-down",
            "01_sums.md:32 (cell 'add-down-check')",
            "the graded cell has no hidden check named 'add-down'",
            '@check("add-down", …) in autograder/checks/test_01_sums.py',
        ),
        (
            "hidden check of nothing",
            ":check: add-up",
            ":check: add-down",
            "autograder/checks/test_01_sums.py",
            "hidden checks for 'add-up', which",
            "remove them",
        ),
        (
            "exercise without check",
            ":check: add-up",
            ":check: add-down",
            "01_sums.md:25 (cell 'add-up')",
            "the exercise 'add-up' has no check cell",
            "`:check: add-up`",
        ),
        (
            "unknown option",
            ":minutes: 5",
            ":minuets: 5",
            "01_sums.md:25",
            "the option 'minuets' is unknown",
            "known are setup",
        ),
        (
            "no difficulty",
            ":difficulty: 1\n",
            "",
            "01_sums.md:25",
            "`difficulty` is None",
            "a whole number from 1 to 3",
        ),
        (
            "name with capitals",
            ":exercise: add-up",
            ":exercise: Add_up",
            "01_sums.md:25",
            "the name 'Add_up' is not allowed",
            "lower-case",
        ),
        (
            "two parts at once",
            ":check: add-up",
            ":check: add-up\n:exercise: add-up",
            "01_sums.md:32",
            "the cell is exercise and check at once",
            "split it",
        ),
        (
            "code in an answer cell",
            ":minutes: 5\n",
            ":minutes: 5\n\nprint(1)\n",
            "01_sums.md:25",
            "the cell has code of its own",
            "remove it",
        ),
        (
            "no model answer",
            "BEGIN SOLUTION",
            "MODEL",
            "01_sums.md:",
            "a written answer without a model answer",
            "BEGIN SOLUTION",
        ),
        (
            "unknown placeholder",
            "{{ facts: why }}",
            "{{ facts: wy }}",
            "01_sums.md:",
            "{{ facts: wy }} names no exercise",
            "NAME",
        ),
        (
            "no kernel",
            "name: python3",
            "name: julia",
            "01_sums.md",
            "no kernelspec with the name python3",
            "start the file with",
        ),
        (
            "options that are no YAML",
            ":points: 70",
            ":points: [70",
            "01_sums.md",
            "could not be read",
            "README.md",
        ),
        (
            "cell options that are no JSON",
            '{"readonly": "why-question"}',
            "{readonly}",
            "01_sums.md",
            "could not be read",
            "README.md",
        ),
        (
            "ids given twice",
            ":demo:",
            ":demo:\n:id: why",
            "01_sums.md",
            "the cell id 'why' is given twice",
            "change `id`",
        ),
    ]
] + [
    pytest.param(
        TWO,
        "[pocket.means.Mean.add, pocket.means.Mean.value]",
        "pocket.means.Mean.add",
        "02_means.md:16 (cell 'mean')",
        "the cell shows Mean; Mean.value is marked, but not asked for",
        "add pocket.means.Mean.value to `:answer:`",
        id="unasked method",
    ),
    pytest.param(
        SUMS,
        "    ### END SOLUTION",
        "",
        "01_sums.md:25 (cell 'add-up')",
        "'### BEGIN SOLUTION' is not ended",
        "add ### END SOLUTION",
        id="marker without end",
    ),
    pytest.param(
        CHECKS,
        '@check("add-up", share',
        "@check(NAME, share",
        "autograder/checks/test_01_sums.py",
        "@check does not name its exercise",
        "as a string",
        id="check without a name",
    ),
    pytest.param(
        CHECKS,
        "def test_sum(",
        "def test_sum((",
        "autograder/checks/test_01_sums.py",
        "test_01_sums.py:",
        "fix",
        id="broken hidden checks",
    ),
]


@pytest.mark.parametrize(("path", "old", "new", "where", "what", "remedy"), WRONG)
def test_an_error_says_where_and_what_to_do(
    pocket, edit, contents, path, old, new, where, what, remedy
) -> None:
    assemble(pocket)
    before = contents(pocket.root / "assignments")
    edit("solutions/pocket/words/letters.py", "abc", "abcd")  # would change both kits
    edit(path, old, new)
    with pytest.raises(AssemblyError) as caught:
        assemble(pocket)
    matching = [
        problem
        for problem in caught.value.problems
        if where in problem.where and what in problem.what and remedy in problem.remedy
    ]
    assert matching, str(caught.value)
    assert contents(pocket.root / "assignments") == before
    assert not list(pocket.root.glob(".assemble-*"))


def test_all_problems_of_all_units_are_listed(pocket, edit) -> None:
    edit(ONE, ":points: 70", ":points: 60")
    edit(TWO, ":points: 60", ":points: 70")
    with pytest.raises(AssemblyError, match=r"(?s)01_sums\.md.*02_means\.md"):
        assemble(pocket)


def test_a_unit_without_a_master_is_refused(pocket) -> None:
    with pytest.raises(AssemblyError, match=r"03_spread\.md: there is no such master"):
        assemble(pocket, [pocket.unit("3")])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("solutions/notebooks/01_sum/01_sum.md", "'01_sum' is no unit of this course"),
        ("solutions/notebooks/01_sums/key.txt", "nbgrader would publish this file"),
    ],
)
def test_stray_files_are_refused(pocket, path, message) -> None:
    stray = pocket.root / path
    stray.parent.mkdir(exist_ok=True)
    stray.write_text("x")
    with pytest.raises(AssemblyError, match=message):
        assemble(pocket)


def test_another_installed_package_is_refused(pocket, monkeypatch, tmp_path) -> None:
    other = tmp_path / "other" / "pocket"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text('"""Another."""\n')
    source = pocket.package_dir / "sums.py"
    (other / "sums.py").write_text(source.read_text())
    monkeypatch.syspath_prepend(str(other.parent))
    with pytest.raises(AssemblyError, match=r"pip install -e \."):
        assemble(pocket, [pocket.unit("1")])
