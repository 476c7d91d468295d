"""Cookies of sign-ins that are open, without the 50 ms of a password."""

from __future__ import annotations

from app.signin.cookies import CookieCodec
from curation.people.sign_ins import UNKNOWN_CLIENT, open_sign_in
from curation.store import Store, require_setting


def sessions_of(store: Store) -> CookieCodec:
    """The cookies of a project, as its app signs them."""
    with store.reading() as cursor:
        return CookieCodec(bytes.fromhex(require_setting(cursor, "cookie_key", "")))


def cookie_of(store: Store, name: str) -> tuple[str, str]:
    """Name and value of a cookie by which somebody is signed in from now on."""
    sessions = sessions_of(store)
    with store.transaction(new_data_version=False) as cursor:
        key = open_sign_in(cursor, name, UNKNOWN_CLIENT)
    assert key is not None
    return sessions.cookie, sessions.issue_session_cookie(key)
