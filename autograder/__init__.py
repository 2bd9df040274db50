"""What instructors run: notebooks are assembled here, and submissions graded.

`assemble/` makes the notebooks and `publish/` the students' repository. `checks/` holds
the hidden checks, written with what is in `checking/`. A submission goes through
`collect/`, `repair/`, `sandbox/`, `grading/` and `nbgrader_steps/`; a class of them is
in `classroom/` and `class_report/`. `proof/` shows that the checks judge rightly, and
`commands/` is the command `course`.
"""

import sys

# `jsonschema` imports this package for its checks of IRIs, of which notebooks have
# none. The package takes a second to compile a grammar, in every process again.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
