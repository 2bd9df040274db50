"""Put what students handed in where nbgrader expects it.

`incoming.py` reads a folder or an archive, and refuses a malicious one; `names.py`
takes a learning platform's file names apart; `roster.py` finds the student and
`recognise.py` the unit; `shelf.py` keeps every submission ever seen, and puts the last
one in place.
"""

from autograder.collect.collecting import Collected, collect
from autograder.collect.incoming import CollectError

__all__ = ["CollectError", "Collected", "collect"]
