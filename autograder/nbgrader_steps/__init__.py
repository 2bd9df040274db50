"""Add the course's own steps to nbgrader: settings, autograding and feedback.

`nbgrader autograde`, formgrader's button and `course grade` all use these steps.
"""
