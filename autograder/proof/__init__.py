"""Proof that the checks judge rightly: known answers, mutants, a sample class."""
