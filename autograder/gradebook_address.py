"""Say where the gradebook is, and whether it can be reached, without its password."""

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError


class GradebookError(Exception):
    """Report that the gradebook's database cannot be opened."""


def shown_address(db_url: str) -> str:
    """Return where the gradebook is: a file's path, or an address with no password."""
    url = make_url(db_url)
    if url.get_backend_name() == "sqlite":
        return url.database or "in memory"
    return url.render_as_string(hide_password=True)


def require_gradebook(db_url: str) -> None:
    """Raise GradebookError unless the gradebook's server answers.

    A file is not looked at: it is made when it is needed.
    """
    try:
        if make_url(db_url).get_backend_name() == "sqlite":
            return
        engine = create_engine(db_url)
        try:
            engine.connect().close()
        finally:
            engine.dispose()
    except ArgumentError:
        raise GradebookError("db_url is no address of a database") from None
    except ModuleNotFoundError as error:
        words = f"it needs a package that is not installed: `pip install {error.name}`"
        raise GradebookError(_not_opened(db_url, words)) from None
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise GradebookError(_not_opened(db_url, said[0])) from None


def _not_opened(db_url: str, why: str) -> str:
    return f"the gradebook {shown_address(db_url)} cannot be opened: {why}"
