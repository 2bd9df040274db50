"""Support that needs nothing."""

from .letters import ALPHABET

__all__ = ["ALPHABET"]
