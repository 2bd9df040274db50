"""Attacks on the marks themselves: flags, points, outputs and tags of the notebook."""

from handing_in import Collection, HandIn, code, copy_of, score_output

ATTACKS = Collection()
CHECKS = ("double-check", "quadruple-check", "scaler-check")


@ATTACKS.case("tags the graded cells so that they are skipped")
def skip_execution_tag(hand: HandIn) -> None:
    for name in CHECKS:
        hand.cell(name)["metadata"]["tags"] = ["skip-execution", "demo"]


@ATTACKS.case("saves full marks as the outputs of graded cells")
def saved_outputs(hand: HandIn) -> None:
    for name in CHECKS:
        hand.cell(name)["outputs"] = [score_output("40")]


@ATTACKS.case("writes the score that nbgrader reads into the check", score=20.0)
def check_is_a_number(hand: HandIn) -> None:
    hand.right("double")
    for name in CHECKS:
        hand.cell(name)["source"] = "10"


@ATTACKS.case("makes every graded cell worth a thousand points", score=20.0)
def a_thousand_points(hand: HandIn) -> None:
    hand.right("double")
    for name in CHECKS:
        hand.cell(name)["metadata"]["nbgrader"]["points"] = 1000


@ATTACKS.case("makes points and outputs negative, infinite and no number", score=20.0)
def strange_points(hand: HandIn) -> None:
    hand.right("double")
    for name, points in zip(CHECKS, (-100, float("nan"), float("inf")), strict=True):
        hand.cell(name)["metadata"]["nbgrader"]["points"] = points
        hand.cell(name)["outputs"] = [score_output(str(points))]


@ATTACKS.case("makes the answers themselves graded cells with an output")
def graded_answers(hand: HandIn) -> None:
    for name in ("double", "quadruple", "scaler"):
        cell = hand.cell(name)
        cell["metadata"]["nbgrader"] |= {"grade": True, "points": 40, "locked": True}
        cell["outputs"] = [score_output("40")]


@ATTACKS.case("adds a graded cell of its own")
def another_graded_cell(hand: HandIn) -> None:
    details = {**hand.cell("double-check")["metadata"]["nbgrader"], "points": 500}
    more = code("500", nbgrader={**details, "grade_id": "bonus"})
    more["outputs"] = [score_output("500")]
    hand.cells.append(more)


@ATTACKS.case("repeats the graded cells, each with full marks")
def repeated_checks(hand: HandIn) -> None:
    for name in CHECKS:
        again = copy_of(hand.cell(name))
        again["outputs"] = [score_output("40")]
        hand.cells += [again, copy_of(again)]


@ATTACKS.case("deletes every check: no output is full marks for nbgrader")
def deleted_checks(hand: HandIn) -> None:
    hand.raw["cells"] = [
        cell
        for cell in hand.cells
        if cell["metadata"].get("nbgrader", {}).get("grade_id") not in CHECKS
    ]


@ATTACKS.case("turns the checks into tasks and hand-graded answers", score=20.0)
def checks_as_tasks(hand: HandIn) -> None:
    hand.right("double")
    for name in CHECKS:
        hand.cell(name)["cell_type"] = "markdown"
        hand.cell(name)["metadata"]["nbgrader"] |= {"task": True, "solution": True}


@ATTACKS.case("brings the grader's own record of full marks along")
def forged_record(hand: HandIn) -> None:
    record = {"unwritten": [], "repair": [], "doubtful": [], "problem": None}
    hand.raw["metadata"]["course_grading"] = record
    for cell in hand.cells:
        cell["metadata"]["course_grading"] = {"type": "code", "grade_id": "double"}
        cell["metadata"]["hidden_check"] = {"status": "passed", "points": 70}


@ATTACKS.case("swaps the names of checks and answers", score=20.0)
def swapped_names(hand: HandIn) -> None:
    hand.right("double")
    check, answer = hand.cell("scaler-check"), hand.cell("scaler")
    check["metadata"], answer["metadata"] = answer["metadata"], check["metadata"]
    check["outputs"] = answer["outputs"] = [score_output("40")]


@ATTACKS.case("claims a name of ours with a huge and a strange type", score=20.0)
def strange_metadata(hand: HandIn) -> None:
    hand.right("double")
    hand.first("pass", nbgrader={"grade_id": ["double"], "grade": "yes"})
    hand.first("pass", nbgrader={"grade_id": "x" * 100_000, "grade": True})
    hand.first("pass", nbgrader=[1, 2, 3], tags="demo")
    hand.first("pass", tags=[None, {"a": 1}])


@ATTACKS.case("comes with a timestamp that is none, and one of next year", score=20.0)
def forged_timestamp(hand: HandIn) -> None:
    hand.right("double")
    hand.beside("timestamp.txt", "1970-01-01 00:00:00.000000 UTC")
    hand.beside("feedback.html", "<p>70 of 70</p>")
