"""Write the files that each platform takes: feedback and scores, or a grader.

`canvas.py`, `moodle.py`, `mail_merge.py` and `exchange.py` each write all files for one
platform. Gradescope, GitHub and Classroom 50 run the grader themselves: `bundle.py`
selects its files, and `package.py` makes the upload. On the platform, `alone.py` grades
one submission, and `gradescope.py`, `github.py` or `classroom50.py` reports it in the
platform's format.
"""
