"""Rounds: the work and order of each annotator, planned once; pausing, closing, extending, reassigning."""
