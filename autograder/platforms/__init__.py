"""Write the files that each platform accepts: feedback, scores or a grader.

`canvas.py`, `moodle.py`, `mail_merge.py` and `exchange.py` each write all files for one
platform. Gradescope, GitHub and Classroom 50 run the grader themselves. For them,
`bundle.py` selects the grader's files, and `package.py` makes the upload. On the
platform, `alone.py` grades one submission, and `gradescope.py`, `github.py` or
`classroom50.py` reports the result in the platform's format.
"""
