"""The labeling guide: the grade scale, its versions, and questions about it."""
