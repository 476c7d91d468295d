"""Statistics on systems over queries, with their intervals."""
