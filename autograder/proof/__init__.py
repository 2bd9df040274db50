"""Proof that the checks judge rightly: answers whose verdict is known.

Wrong answers that students give and right styles (`variants/`), mutants of the
reference, and a sample class with the score that each submission must get.
"""
