"""Give the hidden checks their options and fixtures under pytest."""

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
