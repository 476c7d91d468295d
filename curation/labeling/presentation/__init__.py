"""Presentation: documents drawn for judging, with title, passage, metadata fields and marked words."""
