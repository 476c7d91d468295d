"""The demo project: real documents from the standard library, a written log, sample grades."""
