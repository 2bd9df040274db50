"""Questions for an oral exam about a student's own lines, with answers from test runs.

`inputs` holds the calls of each function, `listing` the student's code and changed
copies of it, and `run_inside` runs both in the sandbox. `effects` compares results,
`questions` writes and chooses questions, `causes` says why their answers are true,
`sheets` makes the sheet of one submission, `pages` writes all sheets of a class, and
`marks` keeps the marks.
"""

NUMBER = 3  # questions for each student
