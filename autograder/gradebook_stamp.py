"""Ask Alembic in this process which revision a new gradebook is of.

nbgrader starts the command ``alembic heads`` for it, which imports all of nbgrader
again: 2 to 4 s for each new gradebook. The answer, and so the stamp, is the same.
"""

import functools

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR

_asked_by_command = nbgrader.api.get_alembic_version


@functools.cache
def newest_revision() -> str:
    """Return the revision of nbgrader's tables as they are in this version.

    Where that is not a single one, nbgrader's own way decides.
    """
    revisions = ScriptDirectory(ALEMBIC_DIR).get_heads()
    return revisions[0] if len(revisions) == 1 else _asked_by_command()


def stamp_from_here() -> None:
    """Let nbgrader's gradebooks take their stamp from `newest_revision`."""
    nbgrader.api.get_alembic_version = newest_revision
