"""Reference answers written by people: answer tasks, writers' answers, and reviewers' decisions."""
