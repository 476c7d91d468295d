"""What operators watch: failures of requests, the health check, descriptors and the heap."""
