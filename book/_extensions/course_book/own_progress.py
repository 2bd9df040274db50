"""The directive `{own-progress}`: show a learner's progress from the check's file.

`_static/course.js` reads the file in the browser and sends it nowhere.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import ClassVar

from docutils import nodes

from autograder.course import Course, Unit
from autograder.self_study.progress import notebook_in, steps_of, title_in

from .directives import CourseDirective
from .words import said


def display(course: Course, units: Sequence[Unit], language: str) -> str:
    """Return the HTML of the display, which is hidden until the script fills it."""
    facts = {
        "units": [
            {
                "slug": unit.slug,
                "number": f"{unit.number:02}",
                "title": title_in(course, unit, language),
                "steps": [asdict(step) for step in steps_of(course, unit, language)],
            }
            for unit in units
        ],
        "words": {
            "sum": said("{done} of {count} exercises, {points} of {total} points"),
            "next": said(
                "Next: unit {unit}, exercise {title}, about {minutes} minutes"
            ),
            "finished": said("All exercises are done."),
            "columns": [
                said("Unit"),
                said("Exercises"),
                said("Points"),
                said("Next step"),
            ],
            "share": said("{done} of {count}"),
            "step": said("{title}, about {minutes} minutes"),
            "done": said("done"),
            "kept": said("This page now shows {name}, and only this browser keeps it."),
            "blocked": said(
                "This page now shows {name}, but this browser keeps nothing: choose "
                "the file again next time."
            ),
            "forgotten": said("This browser has forgotten your progress."),
            "wrong": said(
                "{name} is not a progress file: choose progress.json from the folder "
                "where you run python -m transformer.check."
            ),
            "empty": said(
                "{name} is empty: run python -m transformer.check 04, and choose "
                "the file that it writes."
            ),
            "foreign": said(
                "{name} contains none of this course's units: choose progress.json "
                "from the folder where you run python -m transformer.check."
            ),
        },
    }
    hint = said(
        "Self-study: <code>python -m transformer.check</code> writes "
        "<code>progress.json</code>. Drop this file here to see your progress."
    )
    return (
        f'<div class="own-progress" role="group" aria-label="{said("Your progress")}" '
        f'data-facts="{html.escape(json.dumps(facts, ensure_ascii=False))}" hidden>'
        f"<p data-hint>{hint}</p><p data-next hidden></p>"
        f"<details hidden><summary></summary><table class='table'></table></details>"
        f'<p><button type="button" data-choose>{said("Choose the file")}</button> '
        f'<button type="button" data-forget hidden>{said("Forget my progress")}'
        '</button> <span role="status"></span></p>'
        '<input type="file" accept=".json,application/json" hidden></div>'
    )


class OwnProgress(CourseDirective):
    """Write the display of a learner's progress in the units of this book."""

    has_content = False
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the display; Sphinx makes it again if a notebook changes."""
        course, language = self.course, self.config.language
        units = [
            unit
            for unit in course.units
            if unit.slug in self.env.found_docs
            and course.release_notebook(unit).is_file()
        ]
        for unit in units:
            self.env.note_dependency(str(course.release_notebook(unit)))
            self.env.note_dependency(str(notebook_in(course, unit, language)))
        return [nodes.raw("", display(course, units, language), format="html")]
