"""Pseudonyms: the numbers that replace the names of people and rounds in a release.

The numbers are computed from the judgments, never from names. Annotators and rounds are distinguished by
their judgments and by their neighbors, as in color refinement. Annotators who still cannot be distinguished
can be exchanged without changing the release, so their order does not matter.

B. Weisfeiler and A. Leman (1968), The reduction of a graph to canonical form.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from unicodedata import normalize

from curation.core.digests import digest
from curation.ingest.importers.personal_data import redact

MIN_NAME = 3
"""Minimum length of a name that is replaced in texts.

Shorter names would match parts of ordinary sentences.
"""
_Node = tuple[str, str]  # 'a' or 'r', and the name


def assign_pseudonyms(
    annotators: Mapping[str, str], rounds: Mapping[str, str], judged: Mapping[tuple[str, str], str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Number annotators and rounds: annotator's name → 'a1', 'a2', …; round id → 'r1', 'r2', …

    Parameters
    ----------
    annotators, rounds: name → digest of the other facts that the release has about the annotator or round.
    judged: (annotator, round) → digest of the judgments.
    """
    colors = {("a", name): digest("a", about) for name, about in annotators.items()}
    colors |= {("r", name): digest("r", about) for name, about in rounds.items()}
    colors = _refine_colors(colors, judged)
    while tie := _find_tie(colors):
        colors = _refine_colors(colors | {tie: digest(colors[tie], "first")}, judged)
    return _number_nodes("a", colors), _number_nodes("r", colors)


def replace_names(text: str, people: Mapping[str, str]) -> str:
    """Replace people's names in a text with their numbers, and personal data with placeholders.

    A name is replaced as a whole word, in the same case, with composed or decomposed accents.

    Parameters
    ----------
    people: every name by which the project knows somebody → their number.
    """
    forms = {
        normalize(form, name): number
        for name, number in people.items()
        if len(name) >= MIN_NAME
        for form in ("NFC", "NFD")
    }
    if forms:
        names = "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))
        text = re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda match: forms[match[0]], text)
    return redact(text).text


def _refine_colors(colors: dict[_Node, str], judged: Mapping[tuple[str, str], str]) -> dict[_Node, str]:
    """Refine the colours of a graph's nodes by their neighbours' colours until no colour changes, to order
    nodes without names."""
    while True:
        neighbors: dict[_Node, list[tuple[str, str]]] = defaultdict(list)
        for (annotator, round_id), judgments in judged.items():
            neighbors["a", annotator].append((judgments, colors["r", round_id]))
            neighbors["r", round_id].append((judgments, colors["a", annotator]))
        finer = {node: digest(color, sorted(neighbors[node])) for node, color in colors.items()}
        if len(set(finer.values())) == len(set(colors.values())):
            return colors
        colors = finer


def _find_tie(colors: Mapping[_Node, str]) -> _Node | None:
    """Find the first node that has the same colour as another node."""
    sizes = Counter(colors.values())
    return min(((color, node) for node, color in colors.items() if sizes[color] > 1), default=(None, None))[1]


def _number_nodes(prefix: str, colors: Mapping[_Node, str]) -> dict[str, str]:
    ordered = sorted((color, name) for (kind, name), color in colors.items() if kind == prefix)
    return {name: f"{prefix}{number}" for number, (_, name) in enumerate(ordered, 1)}
