"""Corpora that stay in their files, in a folder or an S3-compatible storage.

The project has a manifest: files, their sums, and of each document its id, its hash and its place. A text is
read where it is, and only if its file is still the one that was imported.
"""
