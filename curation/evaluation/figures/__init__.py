"""Figures over queries: means with intervals, of all queries and of each kind, and traffic estimates."""
