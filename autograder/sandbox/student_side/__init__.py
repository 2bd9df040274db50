"""What runs on the student's side: frames, values, cells and the calls into them.

This package imports only the standard library, torch and IPython, so that a child
process can load it without seeing the rest of `autograder`.
"""
