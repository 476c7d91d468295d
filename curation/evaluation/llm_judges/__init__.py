"""Judges that are not people, such as language models: their judgments, and their agreement with people's
judgments.

A judge's judgment never counts as a vote. The judgments of judges are stored in a separate table. No code
that settles grades, measures agreement between people or freezes a release reads this table.
"""
