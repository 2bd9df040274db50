"""Rebuild a submission: copy the student's answers into the released notebook."""

from autograder.repair.reading import Refused, SubmittedCell, read_submission
from autograder.repair.rebuild import Repaired, rebuild

__all__ = ["Refused", "Repaired", "SubmittedCell", "read_submission", "rebuild"]
