"""Signing in: sign-in pages and their routes, sessions, the login throttle, and identity providers."""
