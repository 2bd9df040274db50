"""Check a learner's own notebook without nbgrader and without a sandbox.

This package runs on every system, including Windows.
"""
