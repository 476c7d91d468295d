"""What operators watch: failures of requests, and the health check."""
