"""Assemble the notebooks and grade the submissions of the course.

`assemble/` makes the notebooks and `publish/` the students' repository. `checks/`
contains the hidden checks, which use the tools in `checking/`. A submission is
processed by `collect/`, `repair/`, `sandbox/`, `grading/` and `nbgrader_steps/`.
`classroom/` and `class_report/` process a whole class. `proof/` tests the hidden checks
themselves, and `commands/` defines the `course` command.
"""

import sys

# `jsonschema` imports this package to check IRIs, but notebooks contain none. The
# package compiles a grammar when it is imported, which would take a second in each
# process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
