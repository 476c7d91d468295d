"""Figures of systems over queries, with their intervals."""
