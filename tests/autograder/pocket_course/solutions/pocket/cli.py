"""The command line, which no kit holds."""
