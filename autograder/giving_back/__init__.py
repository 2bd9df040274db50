"""Give feedback back in the form that a learning platform reads.

`returned.py` knows whose page is ready and what the student's file was called, and
`platforms.py` writes what Moodle, Canvas, nbgrader's exchange or a mail merge takes.
"""
