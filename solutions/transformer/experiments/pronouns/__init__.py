"""Pronouns: the heads that find a pronoun's noun, and the translations."""
