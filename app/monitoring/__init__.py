"""Monitoring: failed requests, the health check, file descriptors, the Python heap, and minutely tasks."""
