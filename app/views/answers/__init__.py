"""The page Answers: write reference answers, decide where they differ, and open the tasks."""
