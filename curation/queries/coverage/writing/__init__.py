"""Writing queries for coverage: tasks for people, checks of what they type, and where it comes from."""
