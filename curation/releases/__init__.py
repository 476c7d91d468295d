"""Releases: frozen gold sets whose id is a hash of their content.

A release is a set of named tables, each stored as lines of canonical JSON (`freeze.draft`). The id of a
release is the hash of the tables' names and SHA-256 sums (`checksums`). No name, time or person enters the
id, so the same labels give the same id on every machine. A release names documents by content hash, and the
texts of the documents stay in the corpus. People get grades of sealed parts only if they give a reason, which
is logged (`seal`).
"""
