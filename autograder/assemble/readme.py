"""Keep the README's table of units equal to `course.toml`."""

from __future__ import annotations

from autograder.course import Course, CourseError, Unit

START = "<!-- units: made by `make notebooks` -->"
END = "<!-- end of units -->"


def row(course: Course, unit: Unit) -> str:
    """Return one line of the table, linked to what is written."""
    title = unit.title
    if (course.root / "book" / f"{unit.slug}.md").exists():
        title = f"[{title}](book/{unit.slug}.md)"
    if not course.master(unit).exists():
        return f"| {unit.number:02} | {title} | | |"
    notebook = course.release_notebook(unit).relative_to(course.root).as_posix()
    colab = course.colab_link(unit, "open in Colab")
    return f"| {unit.number:02} | {title} | [notebook]({notebook}) | {colab} |"


def unit_table(course: Course) -> str:
    """Return the table: unit, chapter, notebook, Colab."""
    rows = [row(course, unit) for unit in course.units]
    return "\n".join(
        ["| unit | chapter | notebook | Colab |", "|---|---|---|---|", *rows]
    )


def write_readme(course: Course) -> bool:
    """Put the table between its two marks, if there is a README; say if it changed.

    Raises:
        CourseError: if a mark is missing.
    """
    path = course.root / "README.md"
    if not path.exists():
        return False
    text = path.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise CourseError(f"{path} should hold the lines {START!r} and {END!r}")
    head, rest = text.split(START, 1)
    tail = rest.split(END, 1)[1]
    made = f"{head}{START}\n{unit_table(course)}\n{END}{tail}"
    if made == text:
        return False
    path.write_text(made, encoding="utf-8")
    return True
