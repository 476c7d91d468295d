"""Visits: what the list of sign-ins says of a browser, so that its owner knows it again, and no more."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress

from starlette.requests import Request

from app.signin.throttle import network
from curation.people.sign_ins import Visit

_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Version": "Safari"}
"""How a user agent names a browser and its version → what it is called; the first that fits."""
_SYSTEMS = {"Windows": "Windows", "Android": "Android", "iP": "iOS", "Mac OS": "macOS", "Linux": "Linux"}


def visit_of(request: Request) -> Visit:
    """The browser and system of a request, such as "Firefox 151 on Linux", and the network it came from."""
    agent = request.headers.get("user-agent", "")
    found = ((called, re.search(rf"{name}/(\d{{1,4}})", agent)) for name, called in _BROWSERS.items())
    browser = next((f"{called} {version[1]}" for called, version in found if version), "Another browser")
    system = next((called for name, called in _SYSTEMS.items() if re.search(name, agent)), "another system")
    return Visit(f"{browser} on {system}", _network(request.client.host if request.client else ""))


def _network(address: str) -> str:
    """The first 24 bits of an IPv4 address, or 48 of IPv6; '' for none."""
    found = network(address, 48)
    with suppress(ValueError):
        return str(ipaddress.ip_network(found if "/" in found else f"{found}/24", strict=False))
    return ""
