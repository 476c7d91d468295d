"""Where notices go: a mail server and a webhook, which the environment names.

    GOLDSET_WEBHOOK                         address that takes {"text": …}, as Slack's; by https only
    GOLDSET_SMTP                            mail server, as host:port; by TLS where it offers that
    GOLDSET_SMTP_USER, …_PASSWORD           how goldset signs in there; without them it does not
    GOLDSET_MAIL_FROM, GOLDSET_MAIL_TO      the sender, and who gets the mail, with commas
    GOLDSET_URL                             the app's address, which ends each notice

None of these values is stored, logged or shown. The address of a webhook is itself a secret.
"""

from __future__ import annotations

import json
import os
import smtplib
import ssl
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from email.message import EmailMessage
from email.utils import formatdate
from functools import partial
from html import escape
from http.client import HTTPException
from typing import NamedTuple, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit

from curation.errors import refuse_problems
from curation.web import post

SECONDS = 10.0
"""How long a server may take."""
T = TypeVar("T")
HERE = ("localhost", "127.0.0.1", "::1")


class UnsentError(Exception):
    """Why a notice was not sent, without addresses, and whether it may help to try again."""

    def __init__(self, problem: str, again: bool) -> None:
        super().__init__(problem)
        self.again = again


class Channel(NamedTuple):
    """A way by which notices go; `send` takes a text and raises `UnsentError`."""

    name: str
    send: Callable[[str], None]


class _Mail(NamedTuple):
    host: str
    port: int
    user: str
    password: str
    sender: str
    to: tuple[str, ...]


def channels(environment: Mapping[str, str] | None = None) -> list[Channel]:
    """The ways that the environment names.

    Raises
    ------
    InputError: values that cannot be used, none of which is repeated.
    """
    given = os.environ if environment is None else environment
    webhook, server = (given.get(name, "").strip() for name in ("GOLDSET_WEBHOOK", "GOLDSET_SMTP"))
    host, _, port = server.rpartition(":")
    to = tuple(filter(None, (one.strip() for one in given.get("GOLDSET_MAIL_TO", "").split(","))))
    sender = given.get("GOLDSET_MAIL_FROM", "").strip()
    problems = [] if not webhook or _is_safe(webhook) else ["GOLDSET_WEBHOOK is no address of https."]
    if server and not (host and port.isdecimal() and int(port) < 65_536):
        problems.append("GOLDSET_SMTP is no server; expected one such as mail.example.org:587.")
    if server and not (to and sender and all(map(_is_address, (sender, *to)))):
        problems.append("GOLDSET_MAIL_FROM and GOLDSET_MAIL_TO are no e-mail addresses.")
    refuse_problems(problems)
    ending = f"\n{given['GOLDSET_URL']}" if given.get("GOLDSET_URL") else ""
    found = []
    if server:
        user, password = given.get("GOLDSET_SMTP_USER", ""), given.get("GOLDSET_SMTP_PASSWORD", "")
        mail = _Mail(host.strip("[]"), int(port), user, password, sender, to)
        found.append(Channel("e-mail", lambda text: _send(_mail, mail, f"{text}{ending}")))
    if webhook:
        found.append(Channel("webhook", lambda text: _send(_call, webhook, f"{text}{ending}")))
    return found


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    is_plain = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    return bool(host) and is_plain and (parts.scheme == "https" or (parts.scheme == "http" and host in HERE))


def _is_address(address: str) -> bool:
    return "@" in address.strip("@") and address.isprintable() and not set(' ,<>"') & set(address)


def _send(send: Callable[[T, str], None], server: T, text: str) -> None:
    try:
        send(server, text)
    except HTTPError as error:
        with error:
            again = error.code in (408, 429) or error.code >= 500
            raise UnsentError(f"it answered HTTP {error.code}", again) from None
    except smtplib.SMTPResponseException as error:
        raise UnsentError(f"it answered {error.smtp_code}", again=error.smtp_code < 500) from None
    except smtplib.SMTPRecipientsRefused:
        raise UnsentError("it took none of the addresses", again=False) from None
    except (OSError, HTTPException):
        raise UnsentError("it was not reached, or gave no answer in time", again=True) from None


def _call(url: str, text: str) -> None:
    said = escape(text, quote=False)  # or Slack would take <!channel> for a call
    headers = {"Content-Type": "application/json", "User-Agent": "goldset"}
    post(url, json.dumps({"text": said}).encode(), headers, SECONDS, 10_000)


def _mail(server: _Mail, text: str) -> None:
    message = EmailMessage()
    message["Subject"] = text.partition("\n")[0]
    message["From"], message["To"], message["Date"] = server.sender, ", ".join(server.to), formatdate()
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    safe = ssl.create_default_context()
    open_smtp = partial(smtplib.SMTP_SSL, context=safe) if server.port == 465 else smtplib.SMTP
    with closing(open_smtp(server.host, server.port, timeout=SECONDS)) as smtp:
        smtp.ehlo()
        if server.port != 465 and smtp.has_extn("starttls"):
            smtp.starttls(context=safe)
        elif server.port != 465 and server.user:
            raise UnsentError("it offers no TLS, and the password would go in the clear", again=False)
        if server.user:
            smtp.login(server.user, server.password)
        refused = smtp.send_message(message)
        with suppress(OSError):  # it is sent, whatever the server says to this
            smtp.quit()
    if refused:
        taken = len(server.to) - len(refused)
        raise UnsentError(f"it took {taken} of {len(server.to)} addresses", again=False)
