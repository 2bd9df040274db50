"""Grade where an instructor already is: Gradescope, GitHub, a container of one's own.

`bundle.py` chooses the files that go there, `package.py` makes what is uploaded. There,
`alone.py` grades one submission, and `gradescope.py` or `github.py` says what came of
it in the house's own form.
"""
