"""Define the commands `course publish` and `course colab-autograde`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autograder.course import Course
    from autograder.publish import Published

NO_ADDRESS = (
    "The site has no sitemap, 404 page, social card and workflow for GitHub Pages, "
    "because they need its address. Set `repository` in autograder/course.toml to an "
    "address on GitHub (found: {repository})."
)


def register(app: typer.Typer) -> None:
    """Add the commands to `course`."""
    app.command()(publish)
    app.command("colab-autograde")(colab_autograde)


def publish(
    folder: Annotated[
        Path, typer.Argument(help="The public repository: new, or published before.")
    ],
    until: Annotated[
        str | None, typer.Option(help="The last unit to publish; default: all.")
    ] = None,
    site: Annotated[
        bool, typer.Option(help="Publish the built book too, in docs/.")
    ] = True,
    guide: Annotated[
        bool, typer.Option("--guide", help="Publish the pages for instructors too.")
    ] = False,
    self_study: Annotated[
        bool,
        typer.Option(
            "--self-study", help="Publish the hidden checks too; not for a class."
        ),
    ] = False,
    language: Annotated[
        str, typer.Option(help="Of the notebooks and the README: en or ko.")
    ] = "en",
    course_root: Annotated[
        Path | None, typer.Option(help="The course's folder; default: this one.")
    ] = None,
) -> None:
    """Write the public repository with book, notebooks, kits and README.

    First, the command searches all files, and refuses to publish if any of them is
    private. It then replaces the whole folder in one step, so that old and new files
    are never mixed.
    """
    from autograder.assemble.problems import AssemblyError
    from autograder.course import CourseError, load_course
    from autograder.publish import PublishError
    from autograder.publish import publish as publish_course

    try:
        course = load_course(course_root)
        done = publish_course(
            *(course, folder, until),
            site=site,
            guide=guide,
            language=language,
            self_study=self_study,
        )
    except (AssemblyError, CourseError, PublishError) as error:
        typer.echo(f"{error}\n\nNothing was published.", err=True)
        raise typer.Exit(1) from None
    _tell(folder, course, done)
    if site and course.book_url() is None:
        typer.echo(NO_ADDRESS.format(repository=course.repository))


def _tell(folder: Path, course: "Course", done: "Published") -> None:
    """Print which units were published, and what to do next."""
    units = ", ".join(f"{unit.number:02}" for unit in done.units)
    if done.commit is None:
        typer.echo(f"{folder} is up to date: units {units}.")
        return
    typer.echo(f"{folder}: commit {done.commit}, units {units}.")
    typer.echo(f"Push it to {course.repository}, branch {course.branch}.")


def colab_autograde() -> None:
    """Make the notebook for grading a class on Colab from its master notebook."""
    from autograder.course import load_course
    from autograder.publish.colab_notebook import NAME, write_colab_notebook

    changed = write_colab_notebook(load_course())
    typer.echo(f"autograder/{NAME}.ipynb {'made' if changed else 'is up to date'}.")
