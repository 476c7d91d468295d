"""The data-set card, written from a release."""
