"""The gradebook's database: where it is, and how nbgrader opens it.

nbgrader opens the gradebook ten times a submission, each time with an engine that has
every statement to compile anew, and it commits thirty times; a file's every commit
waits for the disk, so that writing takes longer than grading. So its gradebooks of one
address share an engine, and a transaction. It also starts the command `alembic heads`
for each new gradebook, which imports all of nbgrader again (2 to 4 s): the same answer
is found in this process.
"""

import contextlib
import functools
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.api import BaseCell, Gradebook, Notebook, SubmittedAssignment
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import object_session, selectinload, with_polymorphic
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.pool import NullPool

PACKAGES = {"psycopg2": "psycopg2-binary", "psycopg": "'psycopg[binary]'"}
AT_ONCE = 100  # submissions that are read together
_open: dict[str, "OpenTransaction"] = {}
_asked_by_command = nbgrader.api.get_alembic_version


class GradebookError(Exception):
    """Report that the gradebook's database cannot be opened."""


def shown_address(db_url: str) -> str:
    """Return where the gradebook is: a file's path, or an address with no password."""
    url = make_url(db_url)
    if url.get_backend_name() == "sqlite":
        return url.database or "in memory"
    return url.render_as_string(hide_password=True)


def require_gradebook(db_url: str) -> None:
    """Raise GradebookError unless the gradebook's server answers, or its file is whole.

    A file that is not there is made when it is needed.
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


def submissions_in_turn(
    gradebook: Gradebook, slug: str
) -> Iterator[SubmittedAssignment]:
    """Yield what a gradebook holds of a unit, by student, and forget it again.

    What is changed of one is written when the next are read; to commit it is left to
    the caller. What else of the gradebook was read before is forgotten, too.

    Raises:
        MissingEntry: if the gradebook does not know the unit.
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
    """Raise GradebookError if a file is there that is no database."""
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


class OpenTransaction(Connection):
    """A connection that gradebooks take for an engine, and leave open.

    Their sessions find a savepoint on it: what they commit or take back is committed
    or taken back within the transaction, which is not theirs to end.
    """

    def dispose(self) -> None:
        """Stay open: a gradebook that closes is not the last one."""


@functools.cache
def share_engines() -> None:
    """Give nbgrader's gradebooks our engines; no connection stays open in them."""
    nbgrader.api.create_engine = _engine


def _engine(db_url: str, **settings: Any) -> "Engine | OpenTransaction":
    """Return the transaction that is open at an address, or else its engine."""
    return _open.get(db_url) or _shared_engine(db_url, **settings)


_shared_engine = functools.cache(create_engine)


@contextlib.contextmanager
def one_transaction(db_url: str) -> Iterator[None]:
    """Write what nbgrader commits meanwhile in one piece at the end, or not at all.

    Others can read the gradebook as it was before. This is for a gradebook that is a
    file; a server's commits are left alone, and so are gradebooks that do not share
    their engines.
    """
    is_file = make_url(db_url).get_backend_name() == "sqlite"
    if not is_file or nbgrader.api.create_engine is not _engine:
        yield
        return
    connection = OpenTransaction(_transaction_engine(db_url))
    with connection, connection.begin(), connection.begin_nested():
        _open[db_url] = connection
        try:
            yield
        finally:
            del _open[db_url]


@functools.cache
def _transaction_engine(db_url: str) -> Engine:
    """Return an engine whose transactions begin when they are told to.

    sqlite3 begins one by itself before it writes, which is too late for a savepoint.
    The others' lock is waited for at once, not when half is written.
    """
    engine = create_engine(db_url, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def begin_nothing(connection: Any, _record: Any) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


@functools.cache
def newest_revision() -> str:
    """Return the revision of nbgrader's tables as they are in this version.

    Where that is not a single one, nbgrader's own way decides.
    """
    revisions = ScriptDirectory(ALEMBIC_DIR).get_heads()
    return revisions[0] if len(revisions) == 1 else _asked_by_command()


def find_alembic() -> None:
    """Let nbgrader find its `alembic` command where no environment is activated."""
    commands = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if commands not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, (commands, path)))


def stamp_from_here() -> None:
    """Let nbgrader's gradebooks take their stamp from `newest_revision`."""
    nbgrader.api.get_alembic_version = newest_revision


def fetch_cells(notebook: Notebook) -> None:
    """Fetch a notebook's cells of all kinds by one question, unless they are there.

    Otherwise each grade and each comment would ask the gradebook for its own.
    """
    session = object_session(notebook)
    if session is None or "_base_cells" in vars(notebook):
        return
    cells = session.query(with_polymorphic(BaseCell, "*"))
    found = cells.filter(BaseCell.notebook_id == notebook.id).all()
    set_committed_value(notebook, "_base_cells", found)
