"""Judgments: events that are appended and never changed, from the app and from files."""
