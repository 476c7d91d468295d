"""The webhook that notices go to, which the environment names.

    GOLDGRADE_WEBHOOK                         address that takes {"text": …}, as Slack's; by https only
    GOLDGRADE_URL                             the app's address, which ends each notice

Neither value is stored, logged or shown. The address of a webhook is itself a secret.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from html import escape
from http.client import HTTPException
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit

from curation.core.errors import InputError
from curation.core.web import post

SECONDS = 10.0
"""How long the webhook's server may take to answer."""
HERE = ("localhost", "127.0.0.1", "::1")


class UnsentError(Exception):
    """Why a notice was not sent, without addresses, and whether it may help to try again."""

    def __init__(self, problem: str, again: bool) -> None:
        super().__init__(problem)
        self.again = again


class Webhook(NamedTuple):
    """Where notices go, and the line that ends each of them."""

    address: str
    ending: str


def webhook(environment: Mapping[str, str] | None = None) -> Webhook | None:
    """The webhook that the environment names, if it names one.

    Raises
    ------
    InputError: the address cannot be used, or a mail server is named; the sentence does not repeat the value.
    """
    given = os.environ if environment is None else environment
    if given.get("GOLDGRADE_SMTP", "").strip():
        raise InputError(
            "GOLDGRADE_SMTP names a mail server, but notices no longer go by e-mail.",
            way_out="Remove it, and name the address of a webhook in GOLDGRADE_WEBHOOK.",
        )
    address = given.get("GOLDGRADE_WEBHOOK", "").strip()
    if address and not _is_safe(address):
        raise InputError("GOLDGRADE_WEBHOOK is not an https address.")
    url = given.get("GOLDGRADE_URL", "")
    return Webhook(address, f"\n{url}" if url else "") if address else None


def send(hook: Webhook, text: str) -> None:
    """Post a notice.

    Raises
    ------
    UnsentError: the webhook's server did not take it.
    """
    said = escape(f"goldgrade: {text}{hook.ending}", quote=False)  # or Slack would take <!channel> for a call
    headers = {"Content-Type": "application/json", "User-Agent": "goldgrade"}
    try:
        post(hook.address, json.dumps({"text": said}).encode(), headers, SECONDS, 10_000)
    except HTTPError as error:
        with error:
            again = error.code in (408, 429) or error.code >= 500
            raise UnsentError(f"it answered HTTP {error.code}", again) from None
    except (OSError, HTTPException):
        raise UnsentError("it was not reached, or gave no answer in time", again=True) from None


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    is_plain = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    return bool(host) and is_plain and (parts.scheme == "https" or (parts.scheme == "http" and host in HERE))
