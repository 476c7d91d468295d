"""The webhook to which notices are posted; an environment variable has its address."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from html import escape
from urllib.parse import urlsplit
from urllib.request import Request

from curation.core import web
from curation.core.errors import InputError

TIMEOUT_SECONDS = 10.0
"""Seconds that the server of the webhook has to answer."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
Webhook = tuple[str, str]
"""The address to which notices go, and the line that ends each notice."""


class UnsentError(Exception):
    """Error: a notice was not sent; the message gives the reason without addresses.

    can_retry: whether a later attempt may succeed.
    """

    def __init__(self, problem: str, can_retry: bool) -> None:
        super().__init__(problem)
        self.can_retry = can_retry


def send_test(environment: Mapping[str, str] | None = None) -> str | None:
    """Send a test notice; return '' if it was sent, the problem if it was not, and None without a webhook."""
    if not (webhook := read_webhook(environment)):
        return None
    try:
        post_notice(webhook, "this is a test notice.")
    except UnsentError as error:
        return str(error)
    return ""


def read_webhook(environment: Mapping[str, str] | None = None) -> Webhook | None:
    """Read the webhook from the environment; None if the environment names none.

    Raises
    ------
    InputError: the address cannot be used, or a mail server is named. The error does not repeat the value.
    """
    values = os.environ if environment is None else environment
    if values.get("GOLDGRADE_SMTP", "").strip():
        way_out = "Remove GOLDGRADE_SMTP, and set GOLDGRADE_WEBHOOK to the address of a webhook."
        problem = "GOLDGRADE_SMTP names a mail server, but goldgrade no longer sends notices by e-mail."
        raise InputError(problem, way_out=way_out)
    address = values.get("GOLDGRADE_WEBHOOK", "").strip()
    if address and not _is_safe(address):
        raise InputError("GOLDGRADE_WEBHOOK is not an https address.")
    url = values.get("GOLDGRADE_URL", "")
    return (address, f"\n{url}" if url else "") if address else None


def post_notice(webhook: Webhook, text: str) -> None:
    """Post the text of a notice to the webhook.

    Raises
    ------
    UnsentError: the server of the webhook did not take the notice.
    """
    address, ending = webhook
    notice = escape(f"goldgrade: {text}{ending}", quote=False)  # Slack would call everybody for <!channel>
    headers = {"Content-Type": "application/json", "User-Agent": "goldgrade"}
    request = Request(address, json.dumps({"text": notice}).encode(), headers, method="POST")  # noqa: S310  checked
    answer = web.send(request, TIMEOUT_SECONDS, 10_000)
    if isinstance(answer, web.RequestFailure):
        raise UnsentError("it could not be reached, or did not answer in time", can_retry=True)
    if answer.status != 200:
        raise UnsentError(f"it answered HTTP {answer.status}", answer.is_busy)


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    is_unambiguous = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and host in LOCAL_HOSTS)
    return bool(host) and is_unambiguous and is_encrypted
