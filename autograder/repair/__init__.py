"""Rebuild a submission on the released notebook: their answers, our everything else."""

from autograder.repair.reading import Refused, SubmittedCell, read_submission
from autograder.repair.rebuild import Repaired, rebuild

__all__ = ["Refused", "Repaired", "SubmittedCell", "read_submission", "rebuild"]
