"""nbgrader reads this; `autograder/nbgrader_steps/settings.py` has the settings."""

from autograder.nbgrader_steps.settings import configure

configure(get_config())  # noqa: F821 (nbgrader defines it)
