"""Releases: frozen, content-addressed gold sets.

A release is a set of named tables, each a text of canonical JSON lines (`freeze.draft`). Its id is the hash
of the tables' names and SHA-256 sums (`release_id`): it contains no name, time or person, so the same
labels give the same id on every machine. Documents are pinned by their content hashes; their texts stay in
the corpus. People get grades of sealed parts only for a reason, which is logged (`seal`).
"""
