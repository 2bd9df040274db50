"""Let nbgrader's many gradebooks of one address share an engine, and a transaction.

nbgrader opens the gradebook ten times a submission, each time with an engine that has
every statement to compile anew, and it commits thirty times. A file's every commit
waits for the disk, so that writing takes longer than grading.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import nbgrader.api
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

_open: dict[str, "OpenTransaction"] = {}


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
