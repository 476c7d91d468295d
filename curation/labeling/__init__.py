"""Labeling: guides, annotators, rounds and their presentations, judgments, adjudication.

A round is computed ahead: who sees what, in which order, is fixed when it opens (`orders`, `rounds`). An
annotator's screen reads `queue`, which is blind by its return type; what they do is appended by
`judgments`. Judgments made elsewhere take the same way in (`imported`).
"""
