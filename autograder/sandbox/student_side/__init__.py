"""Run the student's cells and the checks' calls in an isolated child process.

`messages` and `values` define the protocol that both sides use.

This package imports only the standard library, torch and IPython, so that a child
process can load it without access to the rest of `autograder`.
"""
