"""Sign-in: how people prove who they are, and how the app recognizes them afterwards."""
