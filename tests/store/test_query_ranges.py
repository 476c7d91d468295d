"""What is read range by range is what is read at once, in the same order."""

from pathlib import Path

import numpy as np
import pytest

from curation.agreement.grades import Grades, read_grades
from curation.labeling.consensus.votes import read_votes
from curation.store.query_ranges import WITHIN, read_by_range
from tests.support.gold_project import gold_project


@pytest.mark.slow
def test_votes_and_grades_read_in_ranges_are_those_read_at_once(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    with store.transaction() as cursor:
        cursor.execute("UPDATE judgment_events SET time_known = true, note = 'n' WHERE rowid % 3 = 0")
        cursor.execute("UPDATE judgment_events SET kind = 'cannot_tell', grade = NULL WHERE rowid % 5 = 0")
        cursor.execute("UPDATE judgment_events SET reason = 'why' WHERE kind = 'cannot_tell'")
    with store.reading() as cursor:
        whole, ranged = read_grades(cursor), read_grades(cursor, showings=5)
        votes = [read_votes(cursor, batch_size=showings).rows for showings in (None, 5)]
        tables = list(read_by_range(cursor, f"SELECT query_id FROM presentations WHERE {WITHIN}", 5))
    assert len(tables) > 2
    for name in Grades._fields:
        one, other = np.asarray(getattr(whole, name)), np.asarray(getattr(ranged, name))
        assert one.dtype == other.dtype, name
        assert one.astype(str).tolist() == other.astype(str).tolist(), name  # NaT is not itself
    order = [(name, "ascending") for name in ("query_id", "document_id", "annotator")]
    assert votes[0].sort_by(order).equals(votes[1].sort_by(order))
    assert votes[1]["query_id"].to_pylist() == votes[0]["query_id"].to_pylist()
