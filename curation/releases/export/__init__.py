"""Exports of a release as files in the formats of other tools."""
