"""What runs on the student's side: the locked-up child, its cells, the calls into them.

`messages` and `values` are the protocol that the grader's side speaks too.

This package imports only the standard library, torch and IPython, so that a child
process can load it without seeing the rest of `autograder`.
"""
