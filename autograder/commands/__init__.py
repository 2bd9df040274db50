"""Define the commands of `course`, with one module for each command."""
