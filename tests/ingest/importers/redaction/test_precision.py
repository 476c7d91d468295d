"""Precision and recall of redaction, on texts labelled by hand; docs/redaction.md has the figures.

In personal.txt, braces mark what is personal, also where no rule looks for it. Nothing in
part_numbers.txt is. The texts are made up: numbers of examples and of plans for fiction, none of a person.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from curation.ingest.importers.personal_data import redact
from tests.support import ROOT
from tests.support.growth import grows_linearly


class Figures(NamedTuple):
    """Personal things, those found, those replaced in error, and texts."""

    things: int
    found: int
    wrong: int
    texts: int


def figures(name: str) -> Figures:
    """Those of a file: a thing is found if it is not left, and what is replaced beside it is wrong."""
    texts = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    things = found = wrong = 0
    for text in texts:
        marked = re.findall("{([^}]*)}", text)
        redacted = redact(re.sub("[{}]", "", text))
        hits = sum(thing not in redacted.text and redacted.kinds.total() > 0 for thing in marked)
        things, found = things + len(marked), found + hits
        wrong += max(0, redacted.kinds.total() - hits)
    return Figures(things, found, wrong, len(texts))


def row(name: str, found: Figures) -> str:
    precision = found.found / (found.found + found.wrong) if found.found + found.wrong else None
    recall = found.found / found.things if found.things else None
    shares = ("–" if one is None else f"{one:.2f}" for one in (precision, recall))
    return (
        f"| {name} | {found.texts} | {found.things} | {found.found} | {found.wrong} | {' | '.join(shares)} |"
    )


def test_the_documented_figures_are_those_of_these_texts() -> None:
    personal, parts = figures("personal.txt"), figures("part_numbers.txt")
    both = Figures(*map(sum, zip(personal, parts, strict=True)))
    rows = [row("personal", personal), row("part numbers", parts), row("both", both)]
    page = (ROOT / "docs" / "redaction.md").read_text(encoding="utf-8")
    assert [one for one in rows if one not in page] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hard", "times"),
    [
        ("1-", 3_000),
        ("a1_", 3_000),
        ("eyJhbGciOi-", 10_000),
        ("eyJhbGciOi.", 10_000),
        ("+49 ", 2_000),
        ("0402 ", 2_000),
        ("://a:", 20_000),
        ("-----BEGIN PRIVATE KEY-----", 3_000),
        ("a@b.", 15_000),
        ("a.b%", 15_000),
        ("sk-live-", 10_000),
        ("2001:", 3_000),
        ("ip 1.2.3.", 1_000),
        ("GB29 ", 2_000),
        ("(at) ", 10_000),
        ("phone 1", 10_000),
    ],
)
def test_long_texts_take_time_in_proportion_to_their_length(hard: str, times: int) -> None:
    assert grows_linearly(redact, hard * times, hard * 2 * times)
