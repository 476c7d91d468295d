"""Here each file has an engine of its own, as in use."""

import pytest


@pytest.fixture(autouse=True)
def kept_engines() -> None:
    """Start and end engines."""


@pytest.fixture(autouse=True)
def held_file() -> None:
    """Close the file as soon as in use."""
