"""The top ten documents of evaluated systems: the share of these pairs that have a grade, and the pairs that
nobody is judging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.core.text import percent, pluralize
from curation.labeling.rounds.candidates import read_candidates
from curation.people.seal_access import read_closed_access
from curation.retrieval import RUN_PREFIX
from curation.store import Cursor
from curation.store.release_parts import read_part

MIN_JUDGED_SHARE = 0.8
"""If a smaller share of pairs has a grade, a page offers to send the missing pairs to a round."""
# Lists of evaluations with a sealed part are not stored.
_TOP_TEN = """
SELECT query_id, document_id, arg_min(system, (rank, system))
FROM evaluation_lists JOIN evaluations USING (evaluation_id)
WHERE release_id = ? AND rank <= 10 AND (? IS NULL OR parts = [?])
GROUP BY query_id, document_id ORDER BY query_id, document_id
"""


class TopTen(NamedTuple):
    """The (query, document) pairs in the top ten of any system evaluated on a release.

    Attributes
    ----------
    pairs, judged: the number of pairs, and the number of pairs with a grade in the release.
    missing: pair → system with the best rank, for each pair of a current query that has no grade in the
        release and that no round has shown.
    """

    pairs: int
    judged: int
    missing: Mapping[tuple[str, str], str]

    @property
    def is_offered(self) -> bool:
        """Return whether enough pairs lack a grade for the page to suggest that annotators judge them."""
        return bool(self.missing) and self.judged < MIN_JUDGED_SHARE * self.pairs

    @property
    def sentence(self) -> str:
        """State the share of pairs with a grade, and how many of the ungraded pairs no round has shown."""
        share, verb = percent(self.judged / self.pairs), "is" if len(self.missing) == 1 else "are"
        return (
            f"{share} of the {pluralize(self.pairs, 'query-document pair')} in the top ten of these systems "
            f"have a grade. {pluralize(len(self.missing), 'pair')} without a grade {verb} in no round."
        )


def read_top_ten(cursor: Cursor, release_id: str, part: str | None = None) -> TopTen:
    """Read the top ten documents of all evaluations on unsealed parts; queries that any release seals are
    left out.

    Parameters
    ----------
    part: only evaluations of exactly this part; None: all evaluations on the release.
    """
    seal = read_closed_access(cursor)
    rows = cursor.execute(_TOP_TEN, [release_id, part, part]).fetchall()
    systems = {(query, document): system for query, document, system in rows if seal.can_show(query)}
    graded = {(row["query_id"], row["document_id"]) for row in read_part(cursor, release_id, "qrels")}
    candidates, active = read_candidates(cursor)
    shown = {(row.query_id, row.document_id) for row in candidates if row.shown}
    missing = {
        pair: f"{RUN_PREFIX}{system}"
        for pair, system in systems.items()
        if pair[0] in active and pair not in graded and pair not in shown
    }
    return TopTen(len(systems), len(systems.keys() & graded), missing)
