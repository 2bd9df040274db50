"""Run the command `course` with `python -m autograder`."""

from autograder.commands.app import app

if __name__ == "__main__":
    app(prog_name="course")
