"""Grade one submission: checks, points, caps, score, and the student's report."""
