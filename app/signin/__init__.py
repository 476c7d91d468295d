"""Sign-in: the pages and routes of sign-ins, sessions, the login throttle, and identity providers."""
