"""Write questions for an oral exam about the lines of code that a student wrote.

The answers come from test runs. `inputs.toml` contains calls of each function.
`listing` prints the student's code and makes changed copies of it, and `run_inside`
runs both in the sandbox. `effects` compares the results, `questions` writes and chooses
questions, and `causes` explains the answers. `sheets` makes the sheet for each
submission, `pages` writes all sheets of a class, and `marks` stores the marks.
"""

NUMBER = 3  # number of questions for each student
