"""What goldgrade knows of the form that DuckDB gives its file and log: damage, and what undoes it."""
