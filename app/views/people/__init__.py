"""The page People: who works on the project, what they may do, how they sign in, and their practice."""
