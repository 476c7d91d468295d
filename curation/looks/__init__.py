"""Sealed parts: what a look at one may show, and what is written down before it is shown."""
