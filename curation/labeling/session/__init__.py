"""Data of the annotators' screen: upcoming items, texts, submissions and history."""
