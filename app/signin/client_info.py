"""The client that sends a request: browser, operating system and network address."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress

from starlette.requests import Request

from app.signin.throttle import find_network
from curation.people.sign_ins import ClientInfo

_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Version": "Safari"}
"""Name of a browser in user-agent strings → its display name; the first name that matches counts."""
_SYSTEMS = {"Windows": "Windows", "Android": "Android", "iP": "iOS", "Mac OS": "macOS", "Linux": "Linux"}


def read_client(request: Request) -> ClientInfo:
    """Describe a request's browser and system, such as "Firefox 151 on Linux", and its network."""
    agent = request.headers.get("user-agent", "")
    versions = ((label, re.search(rf"{token}/(\d{{1,4}})", agent)) for token, label in _BROWSERS.items())
    browser = next((f"{label} {version[1]}" for label, version in versions if version), "Another browser")
    system = next((label for token, label in _SYSTEMS.items() if re.search(token, agent)), "another system")
    return ClientInfo(f"{browser} on {system}", _mask_address(request))


def read_address(request: Request) -> str:
    """Return a request's network address, which uvicorn supplies behind a trusted proxy."""
    return request.client.host if request.client else ""


def read_network(request: Request) -> str:
    """Return a request's network, which usually belongs to one customer of an internet provider."""
    return find_network(read_address(request), 48)


def _mask_address(request: Request) -> str:
    """Return the first 24 bits of an IPv4 address or the first 48 bits of an IPv6 address; '' for other
    addresses."""
    address = read_network(request)
    with suppress(ValueError):
        return str(ipaddress.ip_network(address if "/" in address else f"{address}/24", strict=False))
    return ""
