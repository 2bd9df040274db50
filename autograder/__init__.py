"""Assemble the notebooks and grade the submissions of the course.

`assemble/` makes the notebooks and `publish/` the students' repository. `checks/` holds
the hidden checks, which are built from `checking/`. A submission goes through
`collect/`, `repair/`, `sandbox/`, `grading/` and `nbgrader_steps/`. `classroom/` and
`class_report/` handle a whole class. `proof/` tests the hidden checks themselves, and
`commands/` defines the `course` command.
"""

import sys

# `jsonschema` imports this package to check IRIs, but notebooks have none. The package
# compiles a grammar at its import, which would take each process a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
