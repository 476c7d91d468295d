"""Bring things in: corpora, traffic, queries and judgments, from the files that people have.

`records` reads every format as records and collects every problem of a file; the other modules each take
one kind of record into the project, in one transaction, and count what they leave out.
"""
