"""Statistics of systems over queries, with their intervals."""
