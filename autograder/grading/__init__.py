"""Grade one submission: run the checks and compute points, caps and score."""
