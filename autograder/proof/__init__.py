"""Test the checks themselves with answers whose verdict is known.

These are typical wrong answers and other right answers (`variants/`), mutants of the
reference, and a sample class with the score that each submission must get.
"""
