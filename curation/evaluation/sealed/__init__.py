"""Sealed parts: who may evaluate on them, what is logged, and which figures are shown."""
