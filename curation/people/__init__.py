"""People in a project: annotators, accounts, roles and ways to sign in."""
