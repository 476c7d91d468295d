"""People: annotators, their accounts, roles and identities."""
