"""Labeling: rounds with their progress, judgments, practice, the annotators' sessions and transfers.

The work and order of each annotator are planned completely when a round opens (`rounds`). An annotator's
screen reads `session`, which is blind by its return types. Every judgment, from the app or from a file,
passes `labeling.judging` and is appended.
"""
