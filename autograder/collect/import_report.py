"""Report whether each file was taken, put aside, refused or passed over."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.atomic_write import atomic_write
from autograder.collect.name_cleaning import folder_name
from autograder.collect.submission_store import STORE
from autograder.sandbox.error_words import clean
from autograder.sandbox.safe_cells import quoted

TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "collect"
ACCOUNTS, SOURCES = "_accounts", "sources.json"
TAKEN, PUT_ASIDE, REFUSED, PASSED_OVER = STATES = (
    "taken",
    "put aside",
    "refused",
    "passed over",
)
COLUMNS = ("file", "state", "student", "unit", "handed in (UTC)", "why")


@dataclass(frozen=True)
class ImportResult:
    """Hold the result for one file.

    Attributes:
        source: the path of the file.
        state: one of `STATES`.
        students: the students who handed it in, if known.
        why: the reason, or a remark on a file that was taken.
        slug: the unit of the file.
        when: the hand-in time of the file.
        is_beside: whether the file may be ignored if another file of the student was
            taken.
        is_untouched: whether the file is the released notebook without any answers.
    """

    source: str
    state: str
    students: tuple[str, ...] = ()
    why: str = ""
    slug: str = ""
    when: str = ""
    is_beside: bool = False
    is_untouched: bool = False


@dataclass
class ImportReport:
    """Hold the results for all files of a folder or an archive.

    Attributes:
        name: the name of the folder or the archive.
        results: one result for each file.
        missing: maps a unit to the students who sent nothing.
        names: maps a student to the name, if it is known.
        page: the path of the page once it is written. The table is in the same folder.
    """

    name: str = ""
    page: Path = Path()
    results: list[ImportResult] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def of(self, *states: str) -> list[ImportResult]:
        """Return the results with one of these states, in order."""
        return [result for result in self.results if result.state in states]

    def taken_from(self) -> set[str]:
        """Return the students from whom at least one file was taken."""
        return {one for result in self.of(TAKEN) for one in result.students}

    def problems(self) -> list[ImportResult]:
        """Return the results that an instructor should look at.

        These are files that may be work but were not taken, and the only files of a
        student.
        """
        done = self.taken_from()
        return [
            result
            for result in self.of(PUT_ASIDE, REFUSED)
            if not (done and result.is_beside) or set(result.students) - done
        ]

    def instead(self) -> dict[str, list[ImportResult]]:
        """For each student from whom no file was taken, return the other files."""
        done = self.taken_from()
        found: dict[str, list[ImportResult]] = {}
        for result in self.of(PUT_ASIDE, REFUSED, PASSED_OVER):
            for student in result.students:
                if student not in done:
                    found.setdefault(student, []).append(result)
        return found

    def missing_by_name(self, slug: str) -> list[str]:
        """Return the ids, and names if known, of the students who sent nothing."""
        named = ((one, self.names.get(one, "")) for one in self.missing[slug])
        return [
            f"{one} ({name})" if name and name != one else one for one, name in named
        ]

    def write(self, root: Path, source: Path) -> None:
        """Write the page and the table; replace an earlier report on the same files.

        Args:
            root: the class's folder.
            source: the folder or archive that was collected.
        """
        self.name = source.name
        self.page = self._page(root / STORE / ACCOUNTS, source)
        atomic_write(self.page, page_of(self).encode("utf-8", "replace"))
        table = self.page.with_suffix(".csv")
        atomic_write(table, self.as_csv().encode("utf-8-sig", "replace"))

    def _page(self, folder: Path, source: Path) -> Path:
        """Return a path that is not used for another source or other units."""
        known: dict[str, list[str]] = {}
        path = folder / SOURCES
        if path.is_file():
            known = json.loads(path.read_text(encoding="utf-8"))
        own = [str(source), *sorted({result.slug for result in self.of(TAKEN)})]
        plain = folder_name(self.name) or "collected"
        names = chain([plain], (f"{plain}-{number}" for number in count(2)))
        name = next(one for one in names if known.get(one, own) == own)
        known[name] = own
        atomic_write(path, f"{json.dumps(known, indent=1)}\n".encode())
        return folder / f"{name}.html"

    def as_csv(self) -> str:
        """Return a table with one row per file, in which no cell is a formula."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for result in self.results:
            writer.writerow(map(_harmless, _cells(result)))
        return text.getvalue()


def sent_instead(root: Path, slug: str) -> dict[str, str]:
    """For each student whose files were not collected, return the last result.

    Args:
        root: the class's folder.
        slug: a unit. Only archives from which a notebook of this unit was taken count.
    """
    found: dict[str, str] = {}
    accounts = (root / STORE / ACCOUNTS).glob("*.csv")
    for path in sorted(accounts, key=lambda one: one.stat().st_mtime):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        if not any(row["state"] == TAKEN and row["unit"] == slug for row in rows):
            continue
        for row in rows:
            if row["state"] in (PUT_ASIDE, REFUSED):
                words = f"{row['state']}: {row['file']} {row['why']}"
                found |= dict.fromkeys(row["student"].split(", "), words)
    return found


def _cells(result: ImportResult) -> Iterator[str]:
    who = ", ".join(result.students)
    yield from (result.source, result.state, who, result.slug, result.when, result.why)


def _harmless(cell: str) -> str:
    """Return a cell that spreadsheets do not interpret as a formula."""
    return quoted(clean(cell, 1000))


def page_of(report: ImportReport) -> str:
    """Return the page as HTML, in which all inserted text is escaped."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["plain"] = lambda text: clean(str(text), 300)
    problems = report.problems()
    known = set(map(id, problems))  # by id, because there may be many thousands
    rest = [one for one in report.of(PUT_ASIDE, REFUSED) if id(one) not in known]
    return environment.get_template("import_report.html.j2").render(
        report=report,
        counts={state: len(report.of(state)) for state in STATES},
        lists=[
            ("To look at", problems),
            ("Beside a notebook that was taken", rest),
            ("Taken", report.of(TAKEN)),
            ("Passed over", report.of(PASSED_OVER)),
        ],
    )
