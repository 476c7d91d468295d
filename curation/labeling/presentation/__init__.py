"""Presentation: documents drawn for judging, with title, passage, facts and marked words."""
