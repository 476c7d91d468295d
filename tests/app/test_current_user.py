"""The account cache, while threads read and others sign out."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from app import context
from app.signin import current_user
from app.signin.current_user import SignInCache
from curation.core.errors import RefusedError
from curation.labeling.rounds.leaving import deactivate_annotator
from curation.people.accounts import activate, add_annotator, deactivate, set_role
from curation.people.sign_ins import (
    ClientInfo,
    end_sign_ins,
    list_sign_ins,
    make_sign_in_id,
    open_sign_in,
    read_sign_in_owners,
)
from curation.store import Annotator, Cursor, Store
from tests.support.projects import discard, rows_of


@pytest.fixture
def served(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    add_annotator(store, "ada", "annotator", "a long password")
    monkeypatch.setitem(os.environ, context.PROJECT, str(store.path))
    yield store
    discard(store)


@pytest.fixture
def key(served: Store) -> str:
    return opened(served)


def opened(store: Store) -> str:
    with store.transaction() as cursor:
        key = open_sign_in(cursor, "ada", ClientInfo("Firefox 151 on Linux", "192.0.2.0/24"))
    assert key is not None
    return key


def sign_out(store: Store, key: str) -> None:
    end_sign_ins(store, "ada", make_sign_in_id(key), "ada")


def test_who_signed_out_is_nobody_also_for_a_server_that_starts_anew(served: Store, key: str) -> None:
    accounts, other = SignInCache(), opened(served)
    assert accounts.find_annotator(key) is not None
    sign_out(served, key)
    accounts.expire()
    assert (accounts.find_annotator(key), SignInCache().find_annotator(key)) == (None, None)
    assert accounts.find_annotator(other) is not None


def test_a_sign_in_from_before_a_deactivation_is_none_after_it_was_taken_back(
    served: Store, key: str
) -> None:
    deactivate(served, "ada")
    activate(served, "ada")
    assert SignInCache().find_annotator(key) is None
    assert SignInCache().find_annotator(opened(served)) is not None


def test_a_refused_deactivation_ends_no_sign_in(served: Store, key: str) -> None:
    set_role(served, "ada", "lead")
    with pytest.raises(RefusedError, match="last lead"):
        deactivate_annotator(served, "ada")
    assert SignInCache().find_annotator(key) is not None


def test_a_sign_out_while_another_thread_reads_is_heard_at_once(
    served: Store, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = SignInCache()

    def while_somebody_signs_out(cursor: Cursor) -> dict[str, Annotator]:
        found = read_sign_in_owners(cursor)
        accounts.expire()
        return found

    with monkeypatch.context() as slow:
        slow.setattr(current_user, "read_sign_in_owners", while_somebody_signs_out)
        assert accounts.find_annotator(key) is not None
    sign_out(served, key)
    assert accounts.find_annotator(key) is None


def test_nothing_in_the_file_is_a_cookie(served: Store, key: str) -> None:
    rows = rows_of(served, "FROM sign_ins")
    assert make_sign_in_id(key) in rows[0]
    assert key not in rows[0]
    assert SignInCache().find_annotator(make_sign_in_id(key)) is None


def test_when_a_sign_in_was_used_last_is_stored_now_and_then(
    served: Store, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(served)
    accounts = SignInCache()
    monkeypatch.setattr(accounts, "USE_RECORD_SECONDS", 0.0)
    accounts.find_annotator(key)
    accounts.expire()
    accounts.find_annotator(key)
    with served.reading() as cursor:
        used, unused = list_sign_ins(cursor, "ada")
    assert (used.sign_in_id, used.last_used > used.since) == (make_sign_in_id(key), True)
    assert unused.last_used == unused.since


def test_who_is_deactivated_is_nobody_and_a_new_role_counts_at_once(served: Store, key: str) -> None:
    accounts = SignInCache()
    assert accounts.find_annotator(key) is not None
    set_role(served, "ada", "reviewer")
    accounts.expire()  # as the page does; what a command changed is read within MAX_AGE_SECONDS
    found = accounts.find_annotator(key)
    assert found is not None
    assert found.role == "reviewer"
    deactivate(served, "ada")
    accounts.expire()
    assert accounts.find_annotator(key) is None
