"""The set-up link, with which the person who started the app creates the first lead's account.

The app prints the link in the terminal while no lead can sign in. The token of the link exists only in the
memory of this process. The link works once, and becomes invalid if a command makes a lead in the meantime.
"""

from __future__ import annotations

import hmac
import secrets
from functools import cache

from app.context import project_store
from app.signin.auth_settings import auth_settings
from curation.people.accounts import list_usable_accounts
from curation.people.invitations import make_invitation_link

BY_LINK = """\
No lead can sign in yet. Open this link to create the first account. It works once, while the app runs:
  {link}
If people use another address for the app, replace {address} in the link with that address."""
BY_COMMAND = "No lead can sign in yet. Make a lead: goldgrade people add NAME --role lead --email ADDRESS"


class FirstLead:
    """The first lead's state: whether no lead can sign in yet, and the set-up link's token.

    is_nobody_able_to_sign_in: whether no person could sign in when the project was last read.
    """

    def __init__(self) -> None:
        self._token = ""
        self._is_missing = self.is_nobody_able_to_sign_in = False

    def announce(self, address: str) -> str:
        """Return the text to print in the terminal once the server listens; '' if a lead can sign in."""
        self._is_missing = True
        if not self.is_missing():
            return ""
        if not auth_settings().passwords:
            return BY_COMMAND
        self._token = secrets.token_urlsafe(16)
        return BY_LINK.format(link=make_invitation_link(address, self._token), address=address)

    def is_missing(self) -> bool:
        """Return whether no lead can sign in; a project that has a lead always keeps one."""
        if self._is_missing:
            with project_store().reading() as cursor:
                people = list_usable_accounts(cursor)
            self.is_nobody_able_to_sign_in = not people
            self._is_missing = all(person.role != "lead" for person in people)
        return self._is_missing

    def accepts(self, token: str) -> bool:
        """Return whether a token belongs to the set-up link and the link still works."""
        matches = bool(self._token) and hmac.compare_digest(self._token.encode(), token.encode())
        return matches and self.is_missing()


@cache
def first_lead() -> FirstLead:
    """Return the first lead's state in this process."""
    return FirstLead()
