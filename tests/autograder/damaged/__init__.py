"""Damaged notebooks with right answers, and files that are not notebooks."""

from damaged import cells, files, mixed, texts

DAMAGED = [case for part in (cells, mixed, texts, files) for case in part.DAMAGED]
