"""What the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from app.signin import current_user
from app.signin.first_lead import first_lead
from tests.support.jobs_inside import work_inside


@pytest.fixture(scope="session", autouse=True)
def components_found_once() -> Iterator[None]:
    """Look for components among the installed packages once.

    Streamlit does so when it starts, but AppTest for each page again: two thirds of such a test's time.
    """
    scan = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = cache(scan)
    yield
    manifest_scanner.scan_component_manifests = scan


@pytest.fixture(autouse=True)
def forget_who_signed_in() -> Iterator[None]:
    """What a process knows of the one project that it serves: each test has another."""
    known = (current_user.sessions, current_user.accounts, first_lead)
    for one in known:
        one.cache_clear()
    yield
    for one in known:
        one.cache_clear()


@pytest.fixture(autouse=True)
def jobs_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do jobs on threads of the test's process. `test_jobs.py`, where the process matters, overrides this."""
    work_inside(monkeypatch)
