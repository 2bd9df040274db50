"""What instructors run: notebooks are assembled here, and submissions graded.

`course.py` reads the facts of the course, `assemble/` makes the notebooks, `checks/`
holds the hidden checks, and `cli.py` is the command `course`.
"""

from autograder.put_off import put_off_iri_grammar

put_off_iri_grammar()
