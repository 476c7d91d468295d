"""Rounds: planning each annotator's items and their order, and pausing, closing, extending and reassigning
rounds."""
