"""Real queries tagged by hand, and how often the rules agree with the hand.

For tests/queries/tags/test_tags_by_hand.py and benchmarks/bench_tags.py. hand_tagged.tsv holds a
source, the digest of a normalised query and its tags; the texts are in the shared data and stay there. The
last digit of a digest decides the half: rules were tuned on the even one, the odd one only measures them.
Short and long were counted.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.statistics.intervals import wilson_interval
from curation.queries.tag_rules import RULES
from tests.support.icecat import ratings

LIST = Path(__file__).with_name("hand_tagged.tsv")
HALVES = ("tuned on", "held out")


class Tagged(NamedTuple):
    """One line of the list; `half` is a place in `HALVES`."""

    source: str
    digest: str
    tags: frozenset[str]

    @property
    def half(self) -> int:
        return int(self.digest[-1], 16) % 2


class Agreement(NamedTuple):
    """How a rule and the hand agree on the queries of a half."""

    queries: int
    by_hand: int
    by_rule: int
    both: int


def hand_tagged() -> list[Tagged]:
    """The lines of the list."""
    rows = csv.DictReader(LIST.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return [
        Tagged(row["source"], row["digest"], frozenset(filter(None, row["tags"].split(",")))) for row in rows
    ]


def texts(shared: Path) -> dict[str, str]:
    """Digest → normalised query, of all queries of the sources."""
    found = [*icecat(shared), *esci(shared), *excite(shared), *touche(shared), *cisi(shared)]
    return {digest(text): text for text in map(normalise_query, found)}


def agreement(shared: Path) -> dict[str, tuple[Agreement, Agreement]]:
    """Tag → how its rule agrees with the hand on the half it was tuned on, and on the one held out."""
    by_digest = texts(shared)
    counts = {tag: ([0] * 4, [0] * 4) for tag in RULES}
    for line in hand_tagged():
        for tag, rule in RULES.items():
            by_hand, by_rule = tag in line.tags, rule(by_digest[line.digest])
            for place, counted in enumerate((True, by_hand, by_rule, by_hand and by_rule)):
                counts[tag][line.half][place] += counted
    return {tag: (Agreement(*tuned), Agreement(*held)) for tag, (tuned, held) in counts.items()}


def table(agreements: Mapping[str, tuple[Agreement, Agreement]]) -> list[str]:
    """The lines of a Markdown table: each share as a number with its 95 % interval and what it is of."""
    lines = [
        "| tag | half | queries | by hand | by rule | precision | recall |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for tag, halves in agreements.items():
        for half, found in zip(HALVES, halves, strict=True):
            counts = f"{found.queries} | {found.by_hand} | {found.by_rule}"
            shares = f"{share(found.both, found.by_rule)} | {share(found.both, found.by_hand)}"
            lines.append(f"| {tag} | {half} | {counts} | {shares} |")
    return lines


def share(part: int, whole: int) -> str:
    """A share with Wilson's interval, or a dash where there is nothing to share."""
    if not whole:
        return "–"
    low, high = wilson_interval(part, whole)
    return f"{part / whole:.2f} ({low:.2f}–{high:.2f})"


def icecat(shared: Path) -> list[str]:
    """The 135 rated queries, once for each rating."""
    return [row["query"] for row in ratings(shared)]


def esci(shared: Path) -> list[str]:
    """The 150 queries with labels."""
    read = json.loads((shared / "esci_us" / "esci_us_queryset.json").read_text(encoding="utf-8"))
    return [row["queryText"] for row in read["querySetQueries"]]


def excite(shared: Path) -> list[str]:
    """The queries of one day in 1997."""
    text = (shared / "excite_log" / "excite-small.log").read_text(encoding="latin-1")
    return [line.split("\t")[2] for line in text.split("\n") if line.count("\t") >= 2]


def touche(shared: Path) -> list[str]:
    """The 49 controversial questions."""
    with gzip.open(shared / "touche2020" / "topics.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t")[1] for line in file if "\t" in line]


def cisi(shared: Path) -> list[str]:
    """The 112 requests of a library."""
    text = (shared / "smart" / "cisi" / "CISI.QRY").read_text(encoding="latin-1")
    blocks = re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]
    return [re.split(r"^\.[A-Z]\s*$", block, flags=re.MULTILINE)[-1].strip() for block in blocks]
