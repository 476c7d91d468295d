"""Labeling: rounds and their progress, judgments, practice, what annotators' screens read and send, and
transfers of work.

Each annotator's items and their order are planned completely when a round opens (`rounds`). An annotator's
screen reads `session`, whose return types hold no grades of other annotators. Every judgment,
from the app or from a file, is checked and appended by `labeling.judging`.
"""
