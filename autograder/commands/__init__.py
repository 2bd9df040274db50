"""The command `course`, a module for each of its commands."""
