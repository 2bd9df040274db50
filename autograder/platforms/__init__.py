"""Send out what each platform takes: feedback and scores, or a grader to run there.

`canvas.py`, `moodle.py`, `mail_merge.py` and `exchange.py` each write everything that
goes out to one platform. Gradescope and GitHub grade by themselves: `bundle.py` chooses
the files that go there, and `package.py` makes the upload. There, `alone.py` grades one
submission, and `gradescope.py` or `github.py` reports it in the platform's own form.
"""
