"""Reference answers that people write: answer tasks, writers' answers, and reviewers' decisions."""
