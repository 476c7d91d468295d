"""Rounds: each annotator's items and their order, planned once; pausing, closing, extending and
reassigning."""
