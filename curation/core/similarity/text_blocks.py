"""A comparison of two versions of a text, as runs of words that are in both versions or in only one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


class TextBlock(NamedTuple):
    """A run of words that is in both versions ('same') or in only one ('removed', 'added')."""

    kind: str
    text: str


def word_blocks(old: Sequence[str], new: Sequence[str]) -> tuple[TextBlock, ...]:
    """List the common and the differing runs of two lists of words, in text order."""
    blocks = []
    for kind, start, end, first, last in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            blocks.append(TextBlock("same", " ".join(old[start:end])))
            continue
        if end > start:
            blocks.append(TextBlock("removed", " ".join(old[start:end])))
        if last > first:
            blocks.append(TextBlock("added", " ".join(new[first:last])))
    return tuple(blocks)
