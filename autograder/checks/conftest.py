"""Provide the hidden checks with their pytest options and fixtures."""

from autograder.checks.pytest_plugin import (
    draw,
    notebook_under_check,
    pytest_addoption,
    student,
)

__all__ = [
    "draw",
    "notebook_under_check",
    "pytest_addoption",
    "student",
]
