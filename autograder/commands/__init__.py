"""Hold the commands of `course`, one module per command."""
