"""Ways in which a file goes wrong: bits, cuts, bytes that came in, parts twice, other encodings, NULs."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from random import Random

HOSTILE = (
    b"\0",
    b"\r",
    b"\n\n\n",
    b'"',
    b"'",
    b",",
    b"\t",
    b"{",
    b"[" * 200,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1b[31m",
    b"\xed\xa0\x80",
    "\u202e\u2028".encode(),
    b"NaN",
    b"-1",
    b"1e999",
    b"9" * 40,
    b"null",
    b"=HYPERLINK(1)",
    b"0001-01-01T00:00:00Z",
    b"a" * 5000,
    b" " * 3000,
    b"\\u0000",
    b"\\ud800",
)
ENCODINGS = ("utf-16", "utf-16-be", "latin-1", "utf-8-sig", "cp1252", "utf-32")


def flip(content: bytearray, chance: Random) -> bytearray:
    for _ in range(chance.choice((1, 1, 1, 3, 10))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content


def cut(content: bytearray, chance: Random) -> bytearray:
    return content[: chance.randrange(len(content))]


def take_out(content: bytearray, chance: Random) -> bytearray:
    start = chance.randrange(len(content))
    del content[start : start + chance.randint(1, 40)]
    return content


def put_in(content: bytearray, chance: Random) -> bytearray:
    place = chance.randrange(len(content))
    content[place:place] = chance.choice((*HOSTILE, chance.randbytes(chance.randint(1, 30))))
    return content


def overwrite(content: bytearray, chance: Random) -> bytearray:
    place = chance.randrange(len(content))
    put = chance.choice(HOSTILE)
    content[place : place + len(put)] = put
    return content


def repeat(content: bytearray, chance: Random) -> bytearray:
    start = chance.randrange(len(content))
    part = content[start : start + chance.randint(1, 400)]
    place = chance.randrange(len(content))
    content[place:place] = part * chance.choice((1, 2, 30))
    return content


def shuffle_lines(content: bytearray, chance: Random) -> bytearray:
    lines = content.split(b"\n")
    chance.shuffle(lines)
    return bytearray(b"\n".join(lines))


def recode(content: bytearray, chance: Random) -> bytearray:
    text = bytes(content).decode("utf-8", errors="replace")
    return bytearray(text.encode(chance.choice(ENCODINGS), errors="replace"))


def pack(content: bytearray, chance: Random) -> bytearray:
    packed = bytearray(gzip.compress(bytes(content), mtime=0))
    return flip(packed, chance) if chance.random() < 0.5 else packed


MUTATIONS: tuple[Callable[[bytearray, Random], bytearray], ...] = (
    flip,
    cut,
    take_out,
    put_in,
    put_in,
    overwrite,
    overwrite,
    repeat,
    shuffle_lines,
    recode,
    pack,
)
IN_PLACE = (flip,)
"""What a disk does to a file: it is as long as it was."""


def mutated(
    content: bytes, chance: Random, mutations: tuple[Callable[..., bytearray], ...] = MUTATIONS
) -> bytes:
    """The content after one to three mutations."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 3))):
        if found:
            found = chance.choice(mutations)(found, chance)
    return bytes(found)
