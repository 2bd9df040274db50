"""The student's side: the locked-up child, its cells, and the calls into them.

`messages` and `values` define the protocol that both sides use.

This package imports only the standard library, torch and IPython, so that a child
process can load it without seeing the rest of `autograder`.
"""
