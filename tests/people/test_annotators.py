"""Annotators: names, roles, passwords."""

from __future__ import annotations

import argon2
import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.people import passwords
from curation.people.accounts import add_annotator
from curation.people.addresses import add_address, find_address_owner, sign_in_by_address
from curation.people.annotators import add_imported_annotator, require_annotators
from curation.people.invitations import invite
from curation.people.passwords import authenticate, change_password
from curation.people.sign_ins import UNKNOWN_CLIENT
from curation.store import Store

PASSWORD = "correct horse"


def test_name_and_password_belong_together(store: Store) -> None:
    added = add_annotator(store, "ada", "reviewer", PASSWORD)
    assert added.name == "ada"
    assert authenticate(store, "ada", PASSWORD)
    assert authenticate(store, "ada", "wrong horse") is None
    assert authenticate(store, "grace", PASSWORD) is None


def test_the_password_itself_is_nowhere_in_the_database(store: Store) -> None:
    add_annotator(store, "ada", "lead", PASSWORD)
    store.close()
    assert PASSWORD.encode() not in store.path.read_bytes()


def test_somebody_known_only_from_imports_cannot_sign_in(store: Store) -> None:
    with store.transaction() as cursor:
        add_imported_annotator(cursor, "rater 1")
    assert authenticate(store, "rater 1", "") is None


def test_a_name_is_taken_once(store: Store) -> None:
    add_annotator(store, "ada", "annotator", PASSWORD)
    with pytest.raises(RefusedError, match="'ada' already exists"):
        add_annotator(store, "ada", "lead", PASSWORD)


def test_all_that_is_wrong_is_said_at_once(store: Store) -> None:
    with pytest.raises(InputError) as caught:
        add_annotator(store, "a b", "boss", "short")
    assert len(caught.value.problems) == 3


@pytest.mark.slow
def test_a_password_costs_whoever_guesses_what_argon2_recommends(
    store: Store, cheap_passwords: argon2.PasswordHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "_hasher", cheap_passwords)
    add_annotator(store, "ada", "annotator", PASSWORD)
    with store.reading() as cursor:
        ((stored,),) = cursor.execute("SELECT hash FROM passwords").fetchall()
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert authenticate(store, "ada", PASSWORD)


COMPOSED, DECOMPOSED = "caf\u00e9 on the hill", "cafe\u0301 on the hill"


def test_a_password_is_the_same_however_the_keyboard_composes_its_letters(store: Store) -> None:
    add_annotator(store, "ada", "annotator", DECOMPOSED)
    assert authenticate(store, "ada", COMPOSED)
    assert authenticate(store, "ada", DECOMPOSED)
    with pytest.raises(InputError, match="the new password is the same as the old password"):
        change_password(store, "ada", COMPOSED, DECOMPOSED)


def test_a_password_hashed_as_it_was_typed_still_fits(store: Store) -> None:
    """So were all before passwords were normalised."""
    add_annotator(store, "ada", "annotator", PASSWORD)
    with store.transaction() as cursor:
        cursor.execute("UPDATE passwords SET hash = ?", [passwords._hasher.hash(DECOMPOSED)])
    assert authenticate(store, "ada", DECOMPOSED)
    assert authenticate(store, "ada", COMPOSED) is None


def test_addresses_differ_by_more_than_the_case_of_ascii_letters(store: Store) -> None:
    """The Kelvin sign is K in lower case, and another mailbox than k."""
    add_annotator(store, "kay", "lead", None, "Kay@Example.org")
    with store.reading() as cursor:
        assert find_address_owner(cursor, "kay@EXAMPLE.org") is not None
        assert find_address_owner(cursor, "\u212aay@example.org") is None
    add_annotator(store, "eve", "annotator", None, "\u212aay@example.org")
    with pytest.raises(RefusedError, match=r"kay@example\.org already belongs to kay"):
        add_address(store, "eve", "KAY@example.org")


@pytest.mark.parametrize("name", ["Ann@X.org", "ann\u200b@x.org", "ANN@x.org"])
def test_one_person_gets_no_second_account(store: Store, name: str) -> None:
    with store.transaction() as cursor:
        add_imported_annotator(cursor, "ann@x.org")
    for add in (
        lambda: add_annotator(store, name, "annotator", "a password", None),
        lambda: invite(store, name, "annotator"),
        lambda: add_annotator(store, "ann", "annotator", None, name),
    ):
        with pytest.raises((RefusedError, InputError), match=r"ann@x\.org'|expected"):
            add()
    added = add_annotator(store, "ann@x.org", "annotator", None, "Ann@X.org")
    assert added.name == "ann@x.org"


def test_an_address_that_looks_like_a_known_one_is_said_to_be_nobodys(store: Store) -> None:
    add_annotator(store, "bo", "annotator", None, "bo@x.org")
    add_annotator(store, "zoe", "annotator", None, "zoé@x.org")
    with pytest.raises(RefusedError, match="differs from it by upper and lower case"):
        sign_in_by_address(store, "ZOÉ@x.org", "issuer", "1", UNKNOWN_CLIENT)
    assert sign_in_by_address(store, "BO@X.org", "issuer", "2", UNKNOWN_CLIENT)
    assert sign_in_by_address(store, "somebody@x.org", "issuer", "3", UNKNOWN_CLIENT) is None
    with store.reading() as cursor, pytest.raises(NotFoundError, match="'Bo' differs from 'bo' by upper and"):
        require_annotators(cursor, ["Bo"])
