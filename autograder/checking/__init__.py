"""Provide tools for authors of hidden checks: expectations and random inputs."""
