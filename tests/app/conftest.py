"""What the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import context
from app.signin import cookies, current_user
from app.signin.first_lead import first_lead
from curation.operations.jobs import jobs_of
from curation.store import Store
from tests.support.jobs_inside import work_inside


@pytest.fixture(autouse=True)
def forget_who_signed_in() -> Iterator[None]:
    """What a process knows of the one project that it serves: each test has another."""
    known = (cookies.cookie_codec, current_user.sign_in_cache, first_lead)
    for cached in known:
        cached.cache_clear()
    yield
    for cached in known:
        cached.cache_clear()


@pytest.fixture
def served(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The project of a test is the one that the app serves."""
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    jobs_of(store).wait()


@pytest.fixture(autouse=True)
def jobs_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do jobs on threads of the test's process. `test_jobs.py`, where the process matters, overrides this."""
    work_inside(monkeypatch)
