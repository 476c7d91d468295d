"""Personal data in texts: patterns and check digits."""
