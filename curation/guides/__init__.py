"""A project's labeling guide: its grade scale, its versions, and questions about it."""
