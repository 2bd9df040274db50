"""Copy submissions to the folders where nbgrader expects them.

`collecting.py` performs a whole run. `sources.py` reads a folder and `archives.py` an
archive. `platform_names.py` parses the file names that Canvas, Moodle and other
platforms generate. `roster.py` reads the list of students, `match_students.py` finds
the student who sent a file, and `detect_unit.py` finds its unit. `submission_store.py`
stores every submission and installs the last one for grading. `quarantine.py` keeps
files without a known student, and `import_report.py` reports the result for every file.
"""

from autograder.collect.collecting import Collected, collect
from autograder.collect.incoming import CollectError

__all__ = ["CollectError", "Collected", "collect"]
