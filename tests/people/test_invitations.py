"""Invitations: links by which people choose their own password, and the first lead."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.people import invitations
from curation.people.accounts import (
    deactivate,
    list_accounts,
    list_usable_accounts,
    make_first_lead,
    set_role,
)
from curation.people.invitations import (
    LINK_DAYS,
    accept_invitation,
    find_invited_annotator,
    invite,
    withdraw_invitation,
)
from curation.people.passwords import authenticate
from curation.store import Store, utc_now
from tests.support.projects import add_names, rows_of

PASSWORD = "correct horse"


@pytest.fixture
def project(store: Store) -> Store:
    add_names(store, "lee", "mia", role="lead")
    return store


def works(store: Store, token: str) -> bool:
    with store.reading() as cursor:
        return find_invited_annotator(cursor, token) is not None


def test_who_is_invited_chooses_a_password_once_and_is_signed_in(project: Store) -> None:
    token = invite(project, "ada", "reviewer", "lee").token
    assert accept_invitation(project, token, PASSWORD)
    assert authenticate(project, "ada", PASSWORD)
    with pytest.raises(RefusedError, match="was used or withdrawn, or has expired"):
        accept_invitation(project, token, "another horse")
    assert rows_of(project, "SELECT annotator FROM sign_ins") == [("ada",)] * 2


def test_a_password_that_is_too_short_leaves_the_link_as_it_was(project: Store) -> None:
    token = invite(project, "ada", "annotator").token
    with pytest.raises(InputError, match="expected at least 8"):
        accept_invitation(project, token, "short")
    assert accept_invitation(project, token, PASSWORD)


def test_the_token_is_neither_in_the_file_nor_in_the_trail_that_has_all_else(project: Store) -> None:
    token = invite(project, "ada", "annotator", "lee").token
    accept_invitation(project, token, PASSWORD)
    token = invite(project, "ada", None, "lee").token
    withdraw_invitation(project, "ada", "mia")
    trail = rows_of(project, "SELECT actor, action FROM events WHERE action LIKE '%invit%' ORDER BY rowid")
    assert trail == [
        ("lee", "invite annotator"),
        ("ada", "accept invitation"),
        ("lee", "invite annotator"),
        ("mia", "withdraw invitation"),
    ]
    project.close()
    assert token.encode() not in project.path.read_bytes()


ENDS: dict[str, Callable[[Store], object]] = {
    "a newer link": lambda store: invite(store, "ada", None, "lee"),
    "withdrawn": lambda store: withdraw_invitation(store, "ada", "mia"),
    "deactivated": lambda store: deactivate(store, "ada", "mia"),
    "its author deactivated": lambda store: deactivate(store, "lee", "mia"),
    "its author no lead": lambda store: set_role(store, "lee", "reviewer", "mia"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_link_ends(project: Store, end: Callable[[Store], object]) -> None:
    token = invite(project, "ada", "lead", "lee").token
    assert works(project, token)
    end(project)
    assert not works(project, token)


@pytest.mark.parametrize(
    ("days", "holds"), [(LINK_DAYS - 0.1, True), (LINK_DAYS, False), (-0.5, True), (-2, False)], ids=str
)
def test_a_link_expires_and_a_clock_that_steps_back_makes_it_last_no_longer(
    project: Store, monkeypatch: pytest.MonkeyPatch, days: float, holds: bool
) -> None:
    token, made = invite(project, "ada", "annotator").token, utc_now()
    monkeypatch.setattr(invitations, "utc_now", lambda: made + timedelta(days=days))
    assert works(project, token) is holds


def test_what_has_expired_stays_so_once_it_was_tried(project: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    token, made = invite(project, "ada", "annotator").token, utc_now()
    with monkeypatch.context() as later:
        later.setattr(invitations, "utc_now", lambda: made + timedelta(days=LINK_DAYS))
        with pytest.raises(RefusedError, match="has expired"):
            accept_invitation(project, token, PASSWORD)
    assert not works(project, token)


def test_nobody_is_invited_under_a_name_that_is_taken_or_is_no_name(project: Store) -> None:
    invite(project, "ada", "annotator")
    with pytest.raises(RefusedError, match="'ada' already exists"):
        invite(project, "ada", "lead")
    for name in ("", "a b", "<b>", "x" * 64, "\u202eada", "ada\n"):
        with pytest.raises(InputError, match="the name"):
            invite(project, name, "annotator")
    with pytest.raises(NotFoundError, match="has no valid link"):
        withdraw_invitation(project, "lee")


def test_nobody_makes_a_link_for_themselves(project: Store) -> None:
    with pytest.raises(RefusedError, match="your own account"):
        invite(project, "lee", None, "lee")


def test_who_has_not_used_their_link_cannot_sign_in_yet(project: Store) -> None:
    made = invite(project, "ada", "lead")
    with project.reading() as cursor:
        ada = next(account for account in list_accounts(cursor) if account.name == "ada")
    assert (ada.can_sign_in, ada.ways) == (False, f"link until {made.expires:%d %b}")


def test_the_first_lead_is_made_while_none_can_sign_in(store: Store) -> None:
    invite(store, "mia", "lead")
    add_names(store, "ben")
    assert make_first_lead(store, "ada", PASSWORD)
    with store.reading() as cursor:
        assert [account.name for account in list_usable_accounts(cursor)] == ["ada"]
    with pytest.raises(RefusedError, match="already has a lead"):
        make_first_lead(store, "eve", PASSWORD)
