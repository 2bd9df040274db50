"""The experiments of unit 01: writing backwards, and the word after a marker."""
