"""Addresses of a document: which links may be followed, and which images may be fetched."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit


@dataclass(frozen=True)
class Addresses:
    """Which addresses of a document may be used.

    Attributes
    ----------
    base: the document's own address, or ''.
    links: whether words that are links stay links.
    image_hosts: the hosts from which the operator lets browsers fetch images.
    """

    base: str = ""
    links: bool = False
    image_hosts: frozenset[str] = frozenset()

    def link(self, address: str) -> str:
        """The address to follow, or ''."""
        return self._absolute(address) if self.links else ""

    def own_image(self, address: str) -> str:
        """The address of an image in a body, or '': it must be on the document's own host or one below it."""
        found, own = self.image(address), _host(self.base).removeprefix("www.")
        host = _host(found)
        return found if own and (host == own or host.endswith(f".{own}")) else ""

    def image(self, address: str) -> str:
        """The address of an image on an allowed host, by https, or ''."""
        found = self._absolute(address)
        return f"https:{found.partition(':')[2]}" if found and _host(found) in self.image_hosts else ""

    def _absolute(self, address: str) -> str:
        if not address.strip():
            return ""
        with suppress(ValueError):  # no address at all
            found = urljoin(self.base, "".join(address.split()))
            parts = urlsplit(found)
            if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
                return found
        return ""


def _host(address: str) -> str:
    with suppress(ValueError):  # no address at all, or a port that is none
        parts = urlsplit(address)
        return f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    return ""
