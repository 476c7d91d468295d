"""Exports: the files of a release in the formats of other tools."""
