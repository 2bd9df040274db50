"""Open the gradebook's database, and read many submissions with few queries."""

import contextlib
import errno
import functools
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import (
    Base,
    BaseCell,
    Gradebook,
    InvalidEntry,
    Notebook,
    SubmittedAssignment,
)
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    OperationalError,
    PendingRollbackError,
    SQLAlchemyError,
)
from sqlalchemy.orm import Session, object_session, selectinload, with_polymorphic
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.pool import NullPool

PACKAGES = {"psycopg2": "psycopg2-binary", "psycopg": "'psycopg[binary]'"}
AT_ONCE = 100  # number of submissions that one query reads


class GradebookError(Exception):
    """Report that the gradebook's database cannot be opened."""


def shown_address(db_url: str) -> str:
    """Return the path of the gradebook, or its address without the password."""
    url = make_url(db_url)
    if url.get_backend_name() == "sqlite":
        return url.database or "in memory"
    return url.render_as_string(hide_password=True)


def require_gradebook(db_url: str) -> None:
    """Raise GradebookError if the server does not answer or the file is damaged.

    A missing file is not an error, because it is created when it is needed.
    """
    try:
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite":
            _require_whole(Path(url.database or ""))
            return
        engine = create_engine(db_url)
        try:
            engine.connect().close()
        finally:
            engine.dispose()
    except ArgumentError:
        raise GradebookError("db_url is no address of a database") from None
    except ModuleNotFoundError as error:
        package = PACKAGES.get(error.name or "", error.name)
        words = f"it needs a package that is not installed: `pip install {package}`"
        raise GradebookError(_not_opened(db_url, words)) from None
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise GradebookError(_not_opened(db_url, said[0])) from None


def words_of(error: Exception) -> str:
    """Return the database's own message about an error, or "" for other errors.

    If adding an entry fails, nbgrader raises another error, whose context is the
    database's error. After a failed write, SQLAlchemy refuses the next query with a
    PendingRollbackError, whose text contains the first error's message.
    """
    first = error.__context__
    if isinstance(error, InvalidEntry) and isinstance(first, OperationalError):
        return words_of(first)
    if isinstance(error, PendingRollbackError):
        return _first_line(str(error).partition("Original exception was:")[2] or error)
    if isinstance(error, DBAPIError):
        return _first_line(error.orig)
    return ""


def _first_line(words: object) -> str:
    return str(words).strip().splitlines()[0]


def is_disk_full(error: Exception) -> bool:
    """Return whether an error means that a file or the gradebook could not grow."""
    is_of_file = isinstance(error, OSError) and error.errno == errno.ENOSPC
    words = words_of(error)  # the message of SQLite or PostgreSQL
    return is_of_file or "disk is full" in words or "No space left" in words


def submissions_in_turn(
    gradebook: Gradebook, slug: str
) -> Iterator[SubmittedAssignment]:
    """Yield a unit's submissions in the order of students, and free their memory.

    Changes to a submission are flushed before the next group is read, but the caller
    must commit them. All objects that the session read earlier are also removed
    from the session.

    Raises:
        MissingEntry: if the unit is not in the gradebook.
    """
    session, assignment = gradebook.db, gradebook.find_assignment(slug)
    of_unit = SubmittedAssignment.assignment_id == assignment.id
    rows = session.query(SubmittedAssignment.id).filter(of_unit)
    ids = [row.id for row in rows.order_by(SubmittedAssignment.student_id)]
    with_notebooks = session.query(SubmittedAssignment).options(
        selectinload(SubmittedAssignment.notebooks)
    )
    for start in range(0, len(ids), AT_ONCE):
        some = SubmittedAssignment.id.in_(ids[start : start + AT_ONCE])
        found = with_notebooks.filter(some).order_by(SubmittedAssignment.student_id)
        yield from found
        session.flush()
        session.expunge_all()


def _require_whole(path: Path) -> None:
    """Raise GradebookError if the file exists but is not a database."""
    if not path.is_file():
        return
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
            connection.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        raise GradebookError(
            f"the gradebook {path} is damaged ({error}): put a copy of it back, or "
            "move it away and grade again"
        ) from None


def _not_opened(db_url: str, why: str) -> str:
    return f"the gradebook {shown_address(db_url)} cannot be opened: {why}"


@contextlib.contextmanager
def open_session(db_url: str) -> Iterator[Session]:
    """Open the gradebook for reading with nbgrader's models."""
    with Session(_engine(db_url)) as session:
        yield session


@contextlib.contextmanager
def open_transaction(db_url: str) -> Iterator[Session]:
    """Open the gradebook; at the end, write either all changes or none.

    If the gradebook is a file and another process has locked it, this function waits at
    the start, before any rows are read.
    """
    with Session(_engine(db_url)) as session, session.begin():
        if session.get_bind().dialect.name == "sqlite":
            session.execute(text("BEGIN IMMEDIATE"))
        yield session


@functools.cache
def _engine(db_url: str) -> Engine:
    """Return the engine for an address; the engine caches compiled statements.

    Connections are not kept open, because the gradebook's file may be replaced.
    """
    return create_engine(db_url, poolclass=NullPool)


def make_gradebook(db_url: str) -> None:
    """Create the tables of a new gradebook and record their version, like nbgrader.

    To do this, nbgrader would start the command `alembic heads`, which takes seconds
    because it imports nbgrader again.
    """
    with open_transaction(db_url) as session:
        if inspect(session.connection()).get_table_names():
            return
        from alembic.script import ScriptDirectory  # the import takes half a second

        Base.metadata.create_all(session.connection())
        version = ScriptDirectory(ALEMBIC_DIR).get_current_head()
        column = "version_num VARCHAR(32) NOT NULL"
        session.execute(text(f"CREATE TABLE alembic_version ({column})"))
        insert = text("INSERT INTO alembic_version (version_num) VALUES (:version)")
        session.execute(insert, {"version": version})


def find_alembic() -> None:
    """Let nbgrader find its `alembic` command even if no environment is activated."""
    commands = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if commands not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, (commands, path)))


def fetch_cells(notebook: Notebook) -> None:
    """Read all cells of a notebook with one query if they are not in memory.

    Otherwise each grade and each comment would query its cell separately.
    """
    session = object_session(notebook)
    if session is None or "_base_cells" in vars(notebook):
        return
    cells = session.query(with_polymorphic(BaseCell, "*"))
    found = cells.filter(BaseCell.notebook_id == notebook.id).all()
    set_committed_value(notebook, "_base_cells", found)
