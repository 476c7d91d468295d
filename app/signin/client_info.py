"""What the list of sign-ins says of a browser, so that its owner knows it again: browser, system, network."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress

from starlette.requests import Request

from app.signin.throttle import (
    network,
)
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
    return Visit(f"{browser} on {system}", _place(request))


def address_of(request: Request) -> str:
    """Where a request came from; behind a proxy, uvicorn has put the visitor's address."""
    return request.client.host if request.client else ""


def network_of(request: Request) -> str:
    """What the queues count: one customer's addresses."""
    return network(address_of(request), 48)


def _place(request: Request) -> str:
    """The first 24 bits of an IPv4 address, or 48 of IPv6; '' for none."""
    found = network_of(request)
    with suppress(ValueError):
        return str(ipaddress.ip_network(found if "/" in found else f"{found}/24", strict=False))
    return ""
