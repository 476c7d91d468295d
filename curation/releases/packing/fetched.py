"""Packed releases by path or address; what came from an address is kept by the release's id and its own sum.

An address may end with `#` and the release id, its beginning, or `sha256=` and the file's sum. A file that
is kept under it is used without asking the network; one that comes from there must be that one. Only HTTPS
is taken, but on this machine. Where the folder for kept files cannot be written, the file is kept until the
end of the process.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from curation.errors import InputError, RefusedError
from curation.releases.packing.packed import PackedRelease
from curation.releases.stored import SUFFIX, begins_id
from curation.text import file_digest

LARGEST = 4 << 30
"""Bytes of a file that is fetched."""
SECONDS = 60.0
"""Without a byte from the network."""
_CHUNK = 1 << 20
_SUM = "sha256="


def kept_file(beginning: str) -> Path | None:
    """The kept file of the release whose id begins so; None where there is none.

    Raises
    ------
    InputError: those of several releases do.
    RefusedError: it is damaged.
    """
    if (path := _kept(beginning)) is not None and _is_damaged(path):
        raise RefusedError(
            f"The kept file {path} is damaged. Delete it, and name the release by its address or file."
        )
    return path


def _kept(beginning: str) -> Path | None:
    found = sorted(_folder().glob(f"{beginning}*{SUFFIX}")) if begins_id(beginning) else []
    ids = sorted({path.name.partition(".")[0] for path in found})
    if len(ids) > 1:
        raise InputError(
            f"{len(ids)} kept releases have an id that begins with {beginning}. Give more of it."
        )
    return found[0] if found else None


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goldset" / "releases"


def _is_damaged(kept: Path) -> bool:
    """Whether it is not what was fetched: its name has the sum of that."""
    return file_digest(kept) != kept.name.split(".")[1]


def fetched(reference: str) -> Path:
    """The path of a packed release of an address, which is fetched unless it is kept and whole.

    Raises
    ------
    InputError: it cannot be fetched, or is not what the address says.
    RefusedError: what was fetched is not as it was packed.
    """
    address, _, wanted = reference.partition("#")
    of_sum = wanted.removeprefix(_SUM) if wanted.startswith(_SUM) else ""
    if wanted and not (len(of_sum) in (0, 64) and begins_id(of_sum or wanted)):
        raise InputError(
            f"{_SUM} with all 64 digits, or the beginning of a release id, was expected after #; "
            f"found {wanted!r}"
        )
    kept = next(iter(sorted(_folder().glob(f"*.{of_sum}{SUFFIX}"))), None) if of_sum else _kept(wanted)
    if kept is not None:
        if not _is_damaged(kept):
            return kept
        with suppress(OSError):
            kept.unlink()
    _refuse_open_way(address)
    with _new_file() as (folder, new):
        found = _received(address, new)
        release = PackedRelease(Path(new.name))
        problems = release.problems()
        if of_sum not in ("", found) or not release.row.release_id.startswith("" if of_sum else wanted):
            raise InputError(
                f"{_host(address)} has another file than {wanted}: the release {release.row.release_id} with "
                f"the sum {found}. Nothing was kept."
            )
        if problems:
            raise RefusedError(f"What {_host(address)} has was altered: {problems[0]}")
        path = folder / f"{release.row.release_id}.{found}{SUFFIX}"
        Path(new.name).replace(path)
    return path


@contextmanager
def _new_file() -> Iterator[tuple[Path, IO[bytes]]]:
    """The folder for kept files, and a new file in it, which is removed unless it was moved."""
    folder = _folder()
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        new = NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115  it is moved
    except OSError:
        folder = Path(mkdtemp(prefix="goldset-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        new = NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115
    try:
        with new:
            yield folder, new
    finally:
        Path(new.name).unlink(missing_ok=True)


def _received(address: str, new: IO[bytes]) -> str:
    """Write what the address has, and return its sum."""
    found, size = hashlib.sha256(), 0
    try:
        request = Request(address, headers={"User-Agent": "goldset"})  # noqa: S310  the scheme was checked
        with build_opener(_SaidRedirects).open(request, timeout=SECONDS) as answer:
            expected = int(answer.headers.get("Content-Length") or -1)
            while size <= LARGEST >= expected and (chunk := answer.read(_CHUNK)):
                found.update(chunk)
                size += new.write(chunk)
            new.flush()
    except HTTPError as error:
        raise InputError(_refusal(_host(address), error)) from None
    except URLError as error:
        untrusted = isinstance(error.reason, ssl.SSLCertVerificationError)
        why = "its certificate is not trusted" if untrusted else str(error.reason)
        raise InputError(f"{_host(address)} could not be reached: {why}. Nothing was kept.") from None
    except (OSError, HTTPException, ValueError) as error:
        why = str(error) or type(error).__name__
        raise InputError(f"{_host(address)} did not send the whole file: {why}. Nothing was kept.") from error
    if size > LARGEST or expected > LARGEST:
        raise InputError(f"{_host(address)} sends more than {LARGEST >> 30} GiB: fetch the file another way.")
    if size < expected:
        raise InputError(
            f"{_host(address)} sent {size:,} of {expected:,} bytes. Nothing was kept: try again."
        )
    return found.hexdigest()


class _SaidRedirects(HTTPRedirectHandler):
    """Follows to other hosts aloud, and nowhere without encryption."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        _refuse_open_way(newurl)
        if _host(newurl) != _host(req.full_url):
            logging.getLogger("goldset").warning(
                "%s leads to %s: the release comes from there.", _host(req.full_url), _host(newurl)
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_open_way(address: str) -> None:
    here = _host(address) in ("localhost", "127.0.0.1", "::1")
    if urlsplit(address).scheme != "https" and not (here and urlsplit(address).scheme == "http"):
        raise InputError(
            f"the address {address.partition('?')[0]}: expected https://, so that nobody on the way changes "
            "the release"
        )


def _refusal(host: str, error: HTTPError) -> str:
    """What a status means."""
    if error.code == 429:
        wait = error.headers.get("Retry-After") or ""
        when = f" in {wait} s" if wait.isdigit() else " later"
        return (
            f"{host}, or a proxy on the way, answered that there were too many requests (HTTP 429). Nothing "
            f"was kept: try again{when}. With # and the release id behind the address a kept file is used."
        )
    return f"{host} answered HTTP {error.code}. Nothing was kept: check the address, and who may read it."


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""
