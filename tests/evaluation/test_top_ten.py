"""The top ten of evaluated systems: which pairs count, which are missing, and that no sealed query leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import RefusedError
from curation.evaluation.top_ten import TopTen, read_top_ten
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.releases.release_rows import find_release
from curation.store import Store
from tests.evaluation.test_by_query import evaluated
from tests.support.evaluated_project import document_ids, evaluated_project, sealed_queries
from tests.support.projects import per_test, rows_of

pytestmark = pytest.mark.slow
store = per_test(evaluated_project)


def top_ten(store: Store, part: str | None = None) -> TopTen:
    with store.reading() as cursor:
        return read_top_ten(cursor, find_release(cursor, "v1").release_id, part)


def test_pairs_without_a_grade_in_the_top_ten_are_missing_until_a_round_has_them_and_sealed_ones_never_count(
    store: Store, tmp_path: Path, goldgrade: Any
) -> None:
    assert top_ten(store) == (0, 0, {})
    evaluated(store, tmp_path, "a", by="vera")
    evaluated(store, tmp_path, "b", by="lee")
    for part in ("test", "all"):
        evaluated(store, tmp_path, "a", part=part, by="lee")
    found = top_ten(store, "dev")
    assert found == top_ten(store)
    assert (found.pairs, found.judged, len(found.missing)) == (30 * 6, 30 * 4, 30 * 2)
    assert not {query for query, _ in found.missing} & set(sealed_queries(store))
    assert all(document in document_ids(int(query[1:]))[4:] for query, document in found.missing)
    assert set(found.missing.values()) == {"run:a", "run:b"}
    assert found.is_offered
    assert found.sentence == (
        "67\u00a0% of the 180 query-document pairs in the top ten of these systems have a grade. 60 "
        "pairs without a grade are in no round."
    )
    goldgrade("round", "open", "top", "--top-ten", "v1", "--annotators", "anna", "--overlap", "1")
    sql = (
        "SELECT DISTINCT query_id, document_id FROM presentations JOIN rounds USING (round_id) WHERE name = ?"
    )
    assert set(rows_of(store, sql, "top")) == set(found.missing)
    after = top_ten(store)
    assert (after.judged, after.missing, after.is_offered) == (found.judged, {}, False)
    with pytest.raises(RefusedError, match="The round can show none"):
        open_round(store, RoundRequest("more", ["anna"], overlap=1), pairs=after.missing)


def test_a_query_that_a_release_seals_after_its_evaluation_leaves_the_top_ten(
    store: Store, tmp_path: Path
) -> None:
    evaluated(store, tmp_path, "a")
    with store.transaction() as cursor:  # as a release would that seals all of v1's queries
        cursor.execute(
            "INSERT INTO releases SELECT 'v2', 'broken', manifest, frozen_at, frozen_by FROM releases"
        )
    assert top_ten(store) == (0, 0, {})
