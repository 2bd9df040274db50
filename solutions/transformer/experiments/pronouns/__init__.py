"""What a pronoun refers to: which heads find its noun, and is it translated right."""
