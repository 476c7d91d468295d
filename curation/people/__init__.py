"""People: annotators, their roles and their identities."""
