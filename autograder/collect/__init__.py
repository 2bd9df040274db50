"""Put what students handed in where nbgrader expects it.

`sources.py` reads a folder, `archives.py` an archive, and refuses a malicious one;
`names.py` takes a learning platform's file names apart; `roster.py` and `identities.py`
find the student and `recognise.py` the unit; `shelf.py` keeps every submission ever
seen, and puts the last one in place; `account.py` says what became of every file.
"""

from autograder.collect.collecting import Collected, collect
from autograder.collect.incoming import CollectError

__all__ = ["CollectError", "Collected", "collect"]
