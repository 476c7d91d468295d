"""Strata of a recorded sample: one source for each pair, the likeliest, whatever other pools there are."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from curation.scoring.inputs.pooled import WHOLE, PoolStratum, recorded_sample
from curation.scoring.metrics.inferred import SampledStratum

DOCUMENTS = [f"d{number}" for number in range(8)]
DESIGN = {"bands": [[2, 1.0], [8, 0.5]], "budget": None}
POOL = {"pool_id": "p", "parameters": {"sample": DESIGN}}


def row(band: int, probability: float, drawn: list[str], rest: list[str], pool: str = "p") -> dict[str, Any]:
    return {
        "pool_id": pool,
        "query_id": "q",
        "band": band,
        "inclusion_probability": probability,
        "drawn": drawn,
        "not_drawn": rest,
    }


def candidate(document_id: str, pool: str | None, rank: int | None = 1) -> dict[str, Any]:
    return {"pool_id": pool, "query_id": "q", "document_id": document_id, "system": "a", "rank": rank}


ROWS = [row(1, 1.0, ["d0", "d1"], []), row(2, 0.5, ["d2", "d3", "d4"], ["d5", "d6", "d7"])]


def stratum(name: str, documents: str, drawn: str) -> PoolStratum:
    return PoolStratum(name, frozenset(f"d{one}" for one in documents), frozenset(f"d{one}" for one in drawn))


def test_bands_are_strata_with_what_was_drawn_of_them() -> None:
    found = recorded_sample(ROWS, [candidate("d2", "p")], [POOL], {"q"}, DOCUMENTS)
    assert found == {
        "q": (stratum("ranks 1 to 2", "01", "01"), stratum("ranks 3 to 8", "234567", "234")),
    }
    assert recorded_sample([], [], [POOL], {"q"}, DOCUMENTS) is None
    assert recorded_sample(ROWS, [], [POOL], {"another"}, DOCUMENTS) is None


def test_a_pair_of_a_pool_that_was_judged_whole_counts_as_such() -> None:
    later = {"pool_id": "later", "parameters": {"depth": 3}}
    pooled = [candidate("d4", "later"), candidate("d6", "later"), candidate("d9", "later")]
    other = [candidate("d7", "later", None), candidate("d7", None)]  # drawn at random, imported
    found = recorded_sample(ROWS, [*pooled, *other], [POOL, later], {"q"}, [*DOCUMENTS, "d9"])
    assert found == {
        "q": (
            stratum(WHOLE, "469", "469"),
            stratum("ranks 1 to 2", "01", "01"),
            stratum("ranks 3 to 8", "2357", "23"),
        )
    }


def test_of_two_samples_the_likelier_counts_and_documents_that_left_the_corpus_count_in_neither() -> None:
    second = {"pool_id": "s", "parameters": {"sample": {"bands": [[8, 0.75]], "budget": None}}}
    rows = [*ROWS, row(1, 0.75, ["d1", "d5", "d2"], ["d6"], "s")]
    found = recorded_sample(rows, [], [POOL, second], {"q"}, set(DOCUMENTS) - {"d7"})
    assert found == {
        "q": (
            stratum("ranks 1 to 2", "01", "01"),
            stratum("ranks 1 to 8", "256", "25"),
            stratum("ranks 3 to 8", "34", "34"),
        )
    }


def test_counts_of_relevant_documents_are_right_on_average_over_all_samples_also_with_a_later_pool() -> None:
    """All 20 samples of three of six, with a later pool of two of them judged whole."""
    relevant = {"d2", "d4", "d7"}
    later = {"pool_id": "later", "parameters": {"depth": 3}}
    pooled = [candidate("d4", "later"), candidate("d5", "later")]
    totals = []
    for chosen in combinations(DOCUMENTS[2:], 3):
        rest = [name for name in DOCUMENTS[2:] if name not in chosen]
        found = recorded_sample([row(2, 0.5, list(chosen), rest)], pooled, [POOL, later], {"q"}, DOCUMENTS)
        assert found is not None
        total = 0.0
        for one in found["q"]:
            sampled = SampledStratum(one.documents, {name: int(name in relevant) for name in one.drawn})
            total += sampled.weight * sum(sampled.grades.values())
        totals.append(total)
    assert np.mean(totals) == pytest.approx(len(relevant))
