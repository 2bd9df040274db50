"""Write a unit's class report from the scores, the checks and the audit log."""

from autograder.class_report.gathering import gather
from autograder.class_report.page import write_page
from autograder.class_report.report import ClassReport

__all__ = ["ClassReport", "gather", "write_page"]
