"""Run the `course` command with `python -m autograder`."""

import sys

import autograder.quick_start  # noqa: F401  # must be the first import


def main() -> None:
    """Run the command line; print a message if Ctrl-C stops the imports."""
    try:
        from autograder.commands.app import app
    except KeyboardInterrupt:
        sys.stderr.write("Stopped before anything was done.\n")
        sys.exit(130)
    app(prog_name="course")


if __name__ == "__main__":
    main()
