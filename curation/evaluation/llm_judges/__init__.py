"""Judges that are not people, such as language models: their judgments, and how they agree with people's.

A judge is never a vote. Its judgments are in a table of their own. Nothing that settles grades, measures
agreement between people or freezes a release reads it.
"""
