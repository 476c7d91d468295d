"""Labeling: rounds with their progress, judgments, practice, the annotators' sessions and transfers.

A round is planned completely when it opens: who sees what, in which order (`rounds`). An annotator's screen
reads `session`, which is blind by its return types. Every judgment, from the app or from a file, passes
`labeling.judging` and is appended.
"""
