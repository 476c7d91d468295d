"""What is evaluated: the release's queries and grades, and the runs of systems."""
