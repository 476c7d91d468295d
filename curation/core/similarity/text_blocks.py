"""Comparison of two versions of a text as runs of words that both versions or only one version has."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


class TextBlock(NamedTuple):
    """A run of words that both versions have ('same'), or that only one version has ('removed', 'added')."""

    kind: str
    text: str


def word_blocks(old: Sequence[str], new: Sequence[str]) -> tuple[TextBlock, ...]:
    """List the common and the differing runs of two lists of words, in the order of the text."""
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
