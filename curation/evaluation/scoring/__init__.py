"""What systems are scored on: a release's queries and grades, their runs, and the value of each query."""
