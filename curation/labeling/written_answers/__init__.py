"""Reference answers that people write: tasks, what each writer wrote, and what is decided."""
