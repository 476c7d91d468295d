"""Presentation: how screens draw documents for judging, with title, passage, metadata fields and highlighted
words."""
