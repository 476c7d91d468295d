"""The addresses of links and images in documents, and which of them a screen may use."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit


@dataclass(frozen=True)
class Addresses:
    """Rules for a document's links and images: which addresses are used and which are left out.

    Attributes
    ----------
    base: the document's own address, or ''.
    links: whether links in the body stay clickable. image_hosts: the hosts from which the operator lets
    browsers fetch images.
    """

    base: str = ""
    links: bool = False
    image_hosts: frozenset[str] = frozenset()

    def link(self, address: str) -> str:
        """Return the absolute address of a link, or '' if links are disabled or the address is not
        allowed."""
        return self._absolute(address) if self.links else ""

    def own_image(self, address: str) -> str:
        """Return the address of an image in a body; '' unless its host is the document's host or a subdomain
        of it."""
        image, base = self.image(address), _read_host(self.base).removeprefix("www.")
        host = _read_host(image)
        return image if base and (host == base or host.endswith(f".{base}")) else ""

    def image(self, address: str) -> str:
        """Return the https address of an image on an allowed host; '' for other images."""
        source = self._absolute(address)
        is_allowed = source and _read_host(source) in self.image_hosts
        return f"https:{source.partition(':')[2]}" if is_allowed else ""

    def _absolute(self, address: str) -> str:
        if not address.strip():
            return ""
        with suppress(ValueError):  # no address at all
            target = urljoin(self.base, "".join(address.split()))
            parts = urlsplit(target)
            if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
                return target
        return ""


def _read_host(address: str) -> str:
    with suppress(ValueError):  # not an address, or not a port number
        parts = urlsplit(address)
        return f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    return ""
