"""Experiments on pronouns: the heads that find a pronoun's noun, and translations."""
