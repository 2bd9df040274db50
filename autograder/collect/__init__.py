"""Put what students handed in where nbgrader expects it.

`collecting.py` is the run from top to bottom. `sources.py` reads a folder and
`archives.py` an archive; `platform_names.py` parses the names that Canvas, Moodle and
other platforms give to files. `roster.py` reads the students, `match_students.py` finds
the student of a file, and `detect_unit.py` its unit. `submission_store.py` keeps every
submission and installs the last one; `quarantine.py` keeps the files of nobody;
`import_report.py` says what became of every file.
"""

from autograder.collect.collecting import Collected, collect
from autograder.collect.incoming import CollectError

__all__ = ["CollectError", "Collected", "collect"]
