"""What operators watch: failures of requests, the health check, metrics, descriptors and the heap."""
