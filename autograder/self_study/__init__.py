"""Check a learner's own notebook without nbgrader, a sandbox or Unix."""
