"""Hostile notebooks gain nothing, read nothing, change nothing and leave nothing."""

import re

import nbformat
import pytest
from attacks import ATTACKS, ONE_OF_EACH_KIND
from bs4 import BeautifulSoup
from class_of_cases import (
    LIMITS,
    GradedClass,
    copied,
    grade_class,
    hand_in,
    places_of_its_own,
    plant_canaries,
)
from handing_in import FULL, SHAPE, UNIT, WHY, Case, HandIn
from honest import HONEST

pytestmark = [
    pytest.mark.needs("bubblewrap"),
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
MARGIN = 2  # seconds, and more only on a crowded machine
RUIN_THEMSELVES = {
    *("fork-bomb", "forged-outputs", "memory-of-many", "shadowed-in-the-folder"),
}
TOLD = ("FOUND", "RIGHTS", "DEVICE", "WROTE", "CONNECTED", "HIDDEN", "GOT 1")
PAGES = (".htm", ".html", ".svg", ".xhtml", ".js", ".pdf")
ESCAPES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x9b\u202a-\u202e\ud800-\udfff]")
ACTIVE = "iframe, object, embed, form, svg[onload], meta[http-equiv=refresh], base"


def victim(hand: HandIn) -> None:
    """Hand in right answers with a hidden word that only their own pages may show."""
    hand.right()
    hand.answer("why", WHY + " CANARY-STUDENT")


VICTIM = Case("victim", "is right, and has a secret", victim, FULL)


def interleaved(attacks: list[Case], honest: list[Case]) -> list[Case]:
    """Return attacks with an honest student after every few of them."""
    every = -(-len(attacks) // len(honest))
    cases = [VICTIM]
    for number, case in enumerate(honest):
        cases += [*attacks[number * every : (number + 1) * every], case]
    return cases


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(ONE_OF_EACH_KIND, id="one-of-each-kind"),
        pytest.param(ATTACKS, id="all", marks=pytest.mark.slow),
    ],
)
def attacks(request: pytest.FixtureRequest) -> list[Case]:
    return request.param


@pytest.fixture(scope="module")
def graded(attacks: list[Case], tiny_root, tmp_path_factory) -> GradedClass:
    """Grade attackers and honest students as one class."""
    folder = tmp_path_factory.mktemp("attacked")
    with places_of_its_own(folder):
        root = copied(tiny_root, folder)
        plant_canaries(root)
        cases = interleaved(attacks, HONEST)
        return grade_class(root, hand_in(root, cases), feedback=True)


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 40
    assert len({case.name for case in (*ATTACKS, *HONEST, VICTIM)}) == (
        len(ATTACKS) + len(HONEST) + 1
    )


def test_an_attack_gains_nothing(attacks, graded: GradedClass, subtests):
    for attack in attacks:
        outcome = graded.outcome(attack)
        with subtests.test(attack.name):
            assert graded.score(attack) <= (attack.score or 0.0), outcome
            if attack.score is None:
                assert outcome.status == "refused"
                assert attack.says in outcome.reason
            else:
                assert outcome.status == "graded", outcome.reason
                assert round(outcome.score, 2) == graded.score(attack)


def test_the_honest_part_of_an_attack_still_counts(attacks, graded: GradedClass):
    honest = [attack for attack in attacks if attack.score and attack.score > SHAPE]
    lost = {attack.name for attack in honest if graded.score(attack) != attack.score}
    assert lost <= RUIN_THEMSELVES


def test_an_attack_reads_and_shows_nothing(attacks, graded: GradedClass, subtests):
    for attack in attacks:
        with subtests.test(attack.name):
            for path, text in graded.written(attack):
                assert "CANARY" not in text, path
                if path.suffix == ".ipynb":
                    for output in outputs_of(text):
                        told = [word for word in TOLD if word in repr_of(output)]
                        assert not told, output


def test_an_attack_ends_in_time(attacks, graded: GradedClass, subtests):
    for attack in attacks:
        outcome, patience = graded.outcome(attack), graded.patience
        with subtests.test(attack.name):
            assert outcome.seconds <= patience * (LIMITS["submission_seconds"] + MARGIN)
            for run in outcome.runs:
                assert run.seconds <= patience * (LIMITS["cell_seconds"] + MARGIN)


def test_the_next_student_gets_full_marks(graded: GradedClass, subtests):
    for honest in HONEST:
        outcome = graded.outcome(honest)
        with subtests.test(honest.name):
            assert outcome.status == "graded"
            assert graded.score(honest) == FULL, [vars(r) for r in outcome.results]
            assert not [r for r in outcome.results if r.message]


def test_no_other_row_is_there_or_changed(attacks, graded: GradedClass):
    named = {graded.students[case.name] for case in attacks if case.says == "name"}
    assert set(graded.scores) == set(graded.students.values()) - named
    assert graded.score(VICTIM) == FULL
    assert all(0 <= score <= FULL for score in graded.scores.values())


def test_nothing_is_left_behind(graded: GradedClass):
    assert graded.left == {"processes": set(), "files": set()}


def test_hidden_words_are_in_no_message(graded: GradedClass):
    log = (graded.root / "grading" / "audit.jsonl").read_text()
    for text in (log, graded.shown):
        assert "CANARY" not in text
        assert not ESCAPES.search(text)
    for case in HONEST:
        assert not any("CANARY" in text for _, text in graded.written(case))
    secret = [path for path, text in graded.written(VICTIM) if "CANARY-STUDENT" in text]
    assert secret  # only the victim's own pages show its text
    assert not any("CANARY-CHECKS" in text for _, text in graded.written(VICTIM))


def test_no_script_and_no_escape_is_shown(attacks, graded: GradedClass, subtests):
    for attack in attacks:
        if attack.score is None:
            continue
        with subtests.test(attack.name):
            for path, text in graded.written(attack):
                is_ours = path.name == f"{UNIT}.html" and "feedback" in path.parts
                assert is_ours or path.suffix not in PAGES, path
                if is_ours:
                    harmless(BeautifulSoup(text, "html.parser"))
                if path.suffix == ".ipynb":
                    for output in outputs_of(text):
                        assert not ESCAPES.search(repr_of(output)), path


def outputs_of(text: str) -> list[nbformat.NotebookNode]:
    """Return all outputs of a notebook."""
    cells = nbformat.reads(text, 4).cells
    return [output for cell in cells for output in cell.get("outputs", [])]


def repr_of(output) -> str:
    """Return all text of an output."""
    data = output.get("data", {})
    texts = [*data.values(), output.get("text", ""), output.get("evalue", "")]
    return " ".join([*map(str, texts), *output.get("traceback", [])])


def harmless(page: BeautifulSoup) -> None:
    """Assert that no part of a page that a student wrote can run."""
    body = page.find("body")
    assert not body.select(ACTIVE)
    for script in page.find_all("script"):
        assert "steal" not in str(script) and "cookie" not in str(script)
    for element in body.find_all(True):
        for name, value in element.attrs.items():
            assert not name.startswith("on"), element
            assert not str(value).lower().lstrip().startswith("javascript:"), element
