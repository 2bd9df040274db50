"""Put off an import that takes a second and that grading hardly ever needs.

`jsonschema`, which nbformat and nbgrader stand on, imports `rfc3987_syntax` for its
checks of the formats "iri" and "iri-reference". That module compiles a grammar forty
times over when it is imported, in every process anew.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

IRI = "rfc3987_syntax"


class PutOff(ModuleType):
    """Stand in for a module until somebody asks for one of its names."""

    is_valid_syntax: Callable[[str, str], bool]  # what `jsonschema` imports by its name

    def __getattr__(self, name: str) -> Any:
        """Return what the module itself has under `name`.

        Names such as `__file__` are asked of every module there is, by `inspect`
        for one, and mean no interest in this one.

        Raises:
            AttributeError: if it has no such name.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(imported(self.__name__), name)


def imported(name: str) -> ModuleType:
    """Import a module that was put off; from then on it is the one that is found."""
    if isinstance(sys.modules.get(name), PutOff):
        del sys.modules[name]
    return import_module(name)


def put_off_iri_grammar() -> None:
    """Let `jsonschema` import the grammar when it first checks an IRI.

    Nothing is done where it is imported already or not installed.
    """
    if IRI in sys.modules or (found := find_spec(IRI)) is None:
        return

    def is_valid_syntax(term: str, value: str) -> bool:
        """Say whether `value` is a `term`, as the module itself says it."""
        return imported(IRI).is_valid_syntax(term, value)

    stand_in = PutOff(IRI)
    stand_in.__spec__, stand_in.__file__ = found, found.origin
    stand_in.__path__ = found.submodule_search_locations or []
    stand_in.is_valid_syntax = is_valid_syntax
    sys.modules[IRI] = stand_in
