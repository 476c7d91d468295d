"""Presentation: how a document is drawn where people judge it: title, passage, facts, words marked."""
