"""Monitoring of the server process: its failures, its health and its resources."""
