"""The page Re-label: what is due this quarter, the plan and its round, and what the new grades say."""
