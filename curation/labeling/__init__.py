"""Labeling: rounds with their progress, judgments, practice, the annotators' sessions and transfers.

The work and order of each annotator are planned completely when a round opens (`rounds`). An annotator's
screen reads `session`, which shows no grade of other annotators: its return types hold none. Every judgment,
from the app or from a file, is checked and appended by `labeling.judging`.
"""
