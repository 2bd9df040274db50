"""Newer parts, which have replaced those of the paper since 2017."""
