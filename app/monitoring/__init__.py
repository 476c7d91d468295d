"""Monitoring: failures of requests, the health check, file descriptors, the heap, and minutely tasks."""
