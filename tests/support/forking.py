"""Imported by the process that forks, before it does."""

from tests.support.forked import get_ready

get_ready()
