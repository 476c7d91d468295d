"""Numbers for the people and rounds of a release, which has no names.

The numbers follow from what was judged, never from names. Annotators and rounds are distinguished by their
judgments and by their neighbours, as in colour refinement. Those that still look alike can be exchanged
without a difference to the release, so it does not matter which of them comes first.

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
"""Shorter names stay in what people wrote: they would be found in any sentence."""
_Node = tuple[str, str]  # 'a' or 'r', and the name


def pseudonyms(
    annotators: Mapping[str, str], rounds: Mapping[str, str], judged: Mapping[tuple[str, str], str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Number annotators and rounds: annotator's name → 'a1', 'a2', …; round id → 'r1', 'r2', …

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
    return _numbered("a", colours), _numbered("r", colours)


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
    return {name: f"{prefix}{number}" for number, (_, name) in enumerate(ordered, 1)}


def without_names(text: str, people: Mapping[str, str]) -> str:
    """What somebody wrote, with people's numbers for their names and placeholders for personal data.

    A name is replaced as a whole word, in its own case, with letters and accents together or apart.

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
