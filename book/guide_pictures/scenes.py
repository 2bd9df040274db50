"""The scenes: each opens a page, does what the guide says, and returns a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.class_report import gather, write_page
from autograder.classroom.folder import ClassFolder
from guide_pictures import sample_class
from guide_pictures.jupyter_server import jupyter_server
from guide_pictures.lab_page import LabPage
from guide_pictures.sample_class import EXERCISE, UNIT

MARGIN = 24  # pixels below the last thing that is shown


@dataclass(frozen=True)
class Stage:
    """What the scenes are played on.

    Attributes:
        page: playwright's page.
        home: A folder for what a scene needs.
        root: the class's folder in it, graded.
        instructor: address and token of the server in the class's folder.
    """

    page: object
    home: Path
    root: Path
    instructor: tuple[str, str]

    def formgrader(self, path: str) -> None:
        """Log in, and open a page of formgrader."""
        address, token = self.instructor
        self.page.goto(f"{address}/formgrader?token={token}")
        self.page.goto(f"{address}/formgrader/{path}")


def wrong_answer(stage: Stage) -> bytes:
    """Run a wrong answer and its check in JupyterLab, as a student."""
    root, settings = stage.home / "student", stage.home / "student-settings"
    notebook = sample_class.make_students_folder(root)
    ids = [cell.id for cell in nbformat.read(root / notebook, as_version=4).cells]
    settings.mkdir()
    with jupyter_server(root, settings, instructor=False) as (address, token):
        lab = LabPage(stage.page)
        lab.open(address, token, notebook)
        stage.page.keyboard.press("Control+b")  # without the list of files
        for name in ("setup", "imports"):
            lab.run(ids.index(name))
        lab.type_into(ids.index(EXERCISE), sample_class.wrong_answer())
        lab.run(ids.index(EXERCISE))
        check = ids.index(f"{EXERCISE}-check")
        assert "AssertionError: " in lab.run(check)
        lab.save()
        lab.show_end(check)
        return stage.page.screenshot()


def class_report(stage: Stage) -> bytes:
    """Open the page that `course report` writes."""
    folder = stage.home / "report"
    write_page(gather(ClassFolder(stage.root), UNIT.slug), folder / "page.html")
    stage.page.goto((folder / "page.html").as_uri())
    return stage.page.screenshot()


def submissions(stage: Stage) -> bytes:
    """Show formgrader's list of a unit's submissions."""
    stage.formgrader(f"manage_submissions/{UNIT.slug}")
    stage.page.get_by_text("perfect-two", exact=True).wait_for()
    return stage.page.screenshot()


def written_answer(stage: Stage) -> bytes:
    """Give points and a comment for a written answer in formgrader."""
    page = stage.page
    stage.formgrader(f"manage_students/perfect-one/{UNIT.slug}")
    page.get_by_role("link", name=UNIT.slug, exact=True).click()
    points = page.locator("#why-the-square-root")
    points.wait_for()
    page.wait_for_function(
        "formgrader.grades?.loaded && formgrader.comments?.loaded && MathJax.loaded"
    )
    points.fill("12")
    comment = page.locator("#why-the-square-root-comment")
    comment.fill("Right. By how much do they vary? Derive it.")
    with page.expect_response(lambda r: "/api/comment/" in r.url and r.ok):
        comment.blur()
    comment.evaluate("box => { box.scrollIntoView(false); scrollBy(0, 60); }")
    page.wait_for_timeout(500)
    return page.screenshot()


def feedback(stage: Stage) -> bytes:
    """Show the top of a feedback page: the points, and what to mend."""
    student = sample_class.who_made_a_mistake(stage.root)
    path = stage.root / "feedback" / student / UNIT.slug / f"{UNIT.slug}.html"
    stage.page.goto(path.as_uri())
    mend = stage.page.locator("#failed-checks").bounding_box()
    page = stage.page.locator("body").bounding_box()
    bottom = mend["y"] + mend["height"] + MARGIN
    clip = {"x": page["x"], "y": 0, "width": page["width"], "height": bottom}
    return stage.page.screenshot(clip=clip, full_page=True)


SCENES: dict[str, Callable[[Stage], bytes]] = {
    "wrong-answer": wrong_answer,
    "class-report": class_report,
    "submissions": submissions,
    "written-answer": written_answer,
    "feedback": feedback,
}
