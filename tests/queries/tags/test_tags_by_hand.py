"""The list of real queries tagged by hand, and the figures that docs/tags.md gives of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.ingest.importers.query_tags import RULE_TAGS
from tests.support import ROOT, hand_tagged

pytestmark = pytest.mark.slow  # not for the quick check

DOCS = ROOT / "docs" / "tags.md"


def test_the_list_holds_200_distinct_queries_and_every_tag_of_the_rules() -> None:
    lines = hand_tagged.hand_tagged()
    assert len({line.digest for line in lines}) == len(lines) >= 200
    assert lines == sorted(lines, key=lambda line: (line.source, line.digest))
    assert set().union(*(line.tags for line in lines)) == set(RULE_TAGS)
    assert {line.half for line in lines} == {0, 1}


def test_the_list_names_queries_that_the_shared_data_holds(shared: Path) -> None:
    known = hand_tagged.texts(shared)
    assert [line for line in hand_tagged.hand_tagged() if line.digest not in known] == []


@pytest.mark.slow
def test_the_figures_in_the_docs_are_what_the_rules_give(shared: Path) -> None:
    docs = DOCS.read_text(encoding="utf-8").splitlines()
    measured = hand_tagged.table(hand_tagged.agreement(shared))
    assert [line for line in measured if line not in docs] == [], "run benchmarks/bench_tags.py"
