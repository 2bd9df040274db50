"""Damaged notebooks with right answers, and files that are no notebook."""

from damaged import cells, files, texts

DAMAGED = [case for module in (cells, texts, files) for case in module.DAMAGED]
