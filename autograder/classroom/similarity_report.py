"""Report which submissions of a class are similar, as a web page and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.atomic_write import atomic_write
from autograder.classroom.known_solutions import NearKnown
from autograder.classroom.similarity import ComparedClass, Pair, clusters_of
from autograder.sandbox.error_words import clean
from autograder.sandbox.safe_cells import as_csv

TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "similarity"
COLUMNS = ("student", "cluster", "nearest other student", "similarity", "exercises")
LONGEST = 200  # maximum number of characters in a text on the page
RULE = (
    "Two submissions are linked if they agree {least:.0%} or more beyond the class's "
    "usual agreement, and if chance does not explain it. To measure chance, the "
    "program shuffles the answers to each exercise among the students, 20 times. A "
    "pair is linked if fewer than 1 in 10 shuffled classes has a pair that is as "
    "strong, or if this class has 200 times as many such pairs as a shuffled class. "
    "Students who submitted the same file are linked too. Linked submissions form a "
    "cluster. The CSV file also has students without a cluster: a similarity of 1.00 "
    "there means that many in the class write these answers in the same way."
)
RULE_OF_SMALL = (
    "The class is too small to show which answers are rare, so two submissions are "
    "linked if they agree {least:.0%} or more beyond the class's usual agreement."
)


@dataclass(frozen=True)
class SimilarityReport:
    """Hold the submissions of a unit that agree more than usual.

    Attributes:
        slug: the slug of the unit.
        compared: the comparison of the students whose files differ.
        same: groups of students with the same file; only the first is compared.
        near: students whose answers are close to a known solution.
        failures: for each submission or known solution that could not be read, the
            reason.
        blank: students who have not answered anything.
    """

    slug: str
    compared: ComparedClass
    same: Sequence[Sequence[str]] = ()
    near: Sequence[NearKnown] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    blank: frozenset[str] = frozenset()

    @cached_property
    def links(self) -> list[Pair]:
        """Return the pairs that chance does not explain and those with equal files."""
        names = tuple(self.compared.exercises)
        equal = [
            Pair((students[0], other), 1.0, 1.0, 0.0, names, 0.0, is_linked=True)
            for students in self.same
            for other in students[1:]
        ]
        return [*equal, *(pair for pair in self.compared.pairs() if pair.is_linked)]

    @cached_property
    def clusters(self) -> list[list[str]]:
        """Return the groups of linked students, the largest first."""
        return clusters_of(self.links)

    def inside(self, cluster: Sequence[str]) -> list[Pair]:
        """Return the linked pairs inside a cluster, the closest first."""
        members = set(cluster)
        found = [pair for pair in self.links if pair.students[0] in members]
        return sorted(found, key=lambda pair: (-pair.beyond, pair.students))

    def exercises_of(self, cluster: Sequence[str]) -> list[str]:
        """Return the exercises in which the students of a cluster agree."""
        named = {name for pair in self.inside(cluster) for name in pair.exercises}
        return [name for name in self.compared.exercises if name in named]

    def nearest(self, student: str) -> Pair | None:
        """Return a student's closest pair; linked pairs are preferred."""
        own = (pair for pair in self.links if student in pair.students)
        return max(own, key=lambda pair: pair.beyond, default=None) or (
            self.compared.nearest(student)
        )

    @property
    def students(self) -> list[str]:
        """Return all students whose submissions were read."""
        copies = {student for students in self.same for student in students[1:]}
        return sorted({*self.compared.students, *copies})

    @property
    def rule(self) -> str:
        """Explain when two submissions are linked."""
        rule = RULE if self.compared.is_large else RULE_OF_SMALL
        return rule.format(least=self.compared.least)

    def rows(self) -> Iterator[Sequence[str]]:
        """Yield a row per student with cluster, nearest student and known solutions."""
        yield *COLUMNS, "known solutions"
        cluster = {
            student: str(number)
            for number, students in enumerate(self.clusters, 1)
            for student in students
        }
        for student in self.students:
            known = "; ".join(one.file for one in self.near if one.student == student)
            pair = self.nearest(student)
            if pair is None:
                yield student, cluster.get(student, ""), "", "", "", known
                continue
            other = next(one for one in pair.students if one != student)
            exercises = ", ".join(pair.exercises)
            share = f"{pair.beyond:.2f}"
            yield student, cluster.get(student, ""), other, share, exercises, known

    def write(self, folder: Path) -> list[Path]:
        """Write the page and the CSV file, and return their paths."""
        page, table = (folder / f"{self.slug}-similar.{end}" for end in ("html", "csv"))
        atomic_write(page, self.page().encode("utf-8", "replace"))
        atomic_write(table, as_csv(self.rows()))
        return [page, table]

    def page(self) -> str:
        """Return the page as HTML, in which all inserted text is escaped."""
        environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
        )
        environment.filters["plain"] = lambda text: clean(str(text), LONGEST)
        return environment.get_template("similarity.html.j2").render(report=self)
