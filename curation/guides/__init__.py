"""The labeling guide of a project: scale of grades, versions of the guide, and questions about the guide."""
