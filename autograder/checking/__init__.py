"""Tools for the author of a hidden check: expectations, comparisons, random inputs."""
