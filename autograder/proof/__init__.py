"""Test the hidden checks with answers for which the correct verdict is known.

These answers are typical wrong answers and alternative right answers (`variants/`),
mutants of the reference answers, and a sample class whose scores are known.
"""
