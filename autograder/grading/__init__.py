"""One submission: checks, points, caps, score, and what its student reads."""
