"""Exports: a release's files in the formats that others read, and their verification."""
