"""Pseudonyms of annotators and rounds: numbers that follow from what was judged, never from names.

Annotators and rounds are distinguished by their judgments and by their neighbours, as in colour refinement.
Those that still look alike can be exchanged without a difference to the release, so it does not matter which
of them comes first.

B. Weisfeiler and A. Leman (1968), The reduction of a graph to canonical form.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from curation.core.text import digest

_Node = tuple[str, str]  # 'a' or 'r', and the name


class Pseudonyms(NamedTuple):
    """Annotator's name → 'a1', 'a2', …; round id → 'r1', 'r2', …"""

    annotators: dict[str, str]
    rounds: dict[str, str]


def pseudonyms(
    annotators: Mapping[str, str], rounds: Mapping[str, str], judged: Mapping[tuple[str, str], str]
) -> Pseudonyms:
    """Number annotators and rounds.

    Parameters
    ----------
    annotators, rounds: name → digest of what the release says about it, judgments apart.
    judged: (annotator, round) → digest of the judgments.
    """
    colours = {("a", name): digest("a", about) for name, about in annotators.items()}
    colours |= {("r", name): digest("r", about) for name, about in rounds.items()}
    colours = _refined(colours, judged)
    while tied := _tied(colours):
        colours = _refined(colours | {tied: digest(colours[tied], "first")}, judged)
    return Pseudonyms(_numbered("a", colours), _numbered("r", colours))


def _refined(colours: dict[_Node, str], judged: Mapping[tuple[str, str], str]) -> dict[_Node, str]:
    """Colours that also distinguish by the colours of neighbours, until nothing changes."""
    while True:
        neighbours: dict[_Node, list[tuple[str, str]]] = defaultdict(list)
        for (annotator, round_id), judgments in judged.items():
            neighbours["a", annotator].append((judgments, colours["r", round_id]))
            neighbours["r", round_id].append((judgments, colours["a", annotator]))
        finer = {node: digest(colour, sorted(neighbours[node])) for node, colour in colours.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            return colours
        colours = finer


def _tied(colours: Mapping[_Node, str]) -> _Node | None:
    """The first of those that look alike, if any do."""
    times = Counter(colours.values())
    tied = [(colour, node) for node, colour in colours.items() if times[colour] > 1]
    return min(tied)[1] if tied else None


def _numbered(prefix: str, colours: Mapping[_Node, str]) -> dict[str, str]:
    ordered = sorted((colour, name) for (kind, name), colour in colours.items() if kind == prefix)
    return {name: f"{prefix}{place}" for place, (_, name) in enumerate(ordered, 1)}
