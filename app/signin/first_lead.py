"""The first lead: while no lead can sign in, the person who started the app makes one by a set-up link.

The link's token is in the memory of this process only, and ends with it. It works once: an account made by it
ends it, and so does a lead whom a command makes meanwhile.
"""

from __future__ import annotations

import hmac
import secrets
from functools import cache

from app.context import project_store
from app.signin.providers import auth_settings
from curation.people.accounts import who_signs_in
from curation.people.invitations import link_of

BY_LINK = """\
No lead can sign in yet. Open this link to make the first account; it works once, until the app is stopped:
  {link}
Where people reach the app at another address, put that in place of {address}."""
BY_COMMAND = "No lead can sign in yet. Make one: goldgrade annotator add NAME --role lead --email ADDRESS"


class FirstLead:
    """Whether a first lead is missing since this process started, and the token by which one is made.

    nobody: whether nobody else could sign in either, when it was last read.
    """

    def __init__(self) -> None:
        self._token = ""
        self._missing = self.nobody = False

    def announce(self, address: str) -> str:
        """What the terminal says once the server listens: '' where a lead can sign in."""
        self._missing = True
        if not self.missing():
            return ""
        if not auth_settings().passwords:
            return BY_COMMAND
        self._token = secrets.token_urlsafe(16)
        return BY_LINK.format(link=link_of(address, self._token), address=address)

    def missing(self) -> bool:
        """Whether no lead can sign in. Once one can, the project is not read again: one always stays."""
        if self._missing:
            with project_store().reading() as cursor:
                found = who_signs_in(cursor)
            self.nobody = not found
            self._missing = all(one.role != "lead" for one in found)
        return self._missing

    def has(self, token: str) -> bool:
        """Whether this is the token of the set-up link, which still works."""
        known = bool(self._token) and hmac.compare_digest(self._token.encode(), token.encode())
        return known and self.missing()


@cache
def first_lead() -> FirstLead:
    """The one of this process."""
    return FirstLead()
