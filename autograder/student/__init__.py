"""Drive a student's code from a check, without ever seeing its objects."""

from autograder.student.local import LocalStudent, NeverReturns
from autograder.student.names import Gradients, Handle, Name
from autograder.student.proxy import Student

__all__ = ["Gradients", "Handle", "LocalStudent", "Name", "NeverReturns", "Student"]
