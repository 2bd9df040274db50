"""The command line, `python -m transformer train|evaluate|translate|page`."""
