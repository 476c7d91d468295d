"""Freezing of a release: making its content from the state of a project."""
