"""A busy machine gets longer time limits, and all other limits stay equal."""

import dataclasses
import os

import pytest

from autograder.sandbox import limits
from autograder.sandbox.limits import Limits, crowding

TIMES = {"cell_seconds", "exercise_seconds", "submission_seconds"}


@pytest.mark.parametrize(
    ("load", "cores", "expected"),
    [(0.1, 2, 1.0), (4.0, 2, 1.0), (8.0, 2, 2.0), (10.0, 4, 1.25), (999.0, 2, 4.0)],
)
def test_a_crowded_machine_gives_more_time(monkeypatch, load, cores, expected):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert crowding() == pytest.approx(expected)
    usual, here = (
        dataclasses.asdict(one) for one in (Limits(), Limits().on_this_machine())
    )
    for name, value in usual.items():
        factor = expected if name in TIMES else 1
        assert here[name] == (value * factor if name in TIMES else value), name


def test_where_no_load_is_known_nothing_changes(monkeypatch):
    monkeypatch.delattr(limits.os, "getloadavg")
    assert Limits().on_this_machine() == Limits()
