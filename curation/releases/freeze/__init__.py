"""Freezing: the content of a release from the state of a project."""
