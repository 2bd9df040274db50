"""The course's own steps in nbgrader: settings, autograding, feedback.

`nbgrader autograde`, formgrader's button and `course grade` all go through them.
"""
