"""Evidence of pairs: the characters that show a pair's grade, by the people who marked some.

Of the judgments that count, those of the version by which the pair is read have a say, where they marked
something. A character is evidence where more than half of them marked it; of one person it is what they
marked. What a reviewer marked with a decision wins. Two people who gave the same grade, with marks that have
no character in common, are a dispute: it is open until a reviewer decides the pair.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from curation.door import Door, door_or_shut
from curation.guides.guide import Guide, current_guide
from curation.settling.consensus import PairConsensus
from curation.settling.decisions import Pair
from curation.settling.votes import counted_decisions_view
from curation.similarity.quotes import find_again
from curation.spans import Span, Spans, held_by, union
from curation.store import Cursor, Document, Store, get_setting
from curation.store.documents import documents_by_hash, snapshot_versions
from curation.store.query_ranges import WITHIN, of_one_query, tables_by_range
from curation.store.release_parts import table_rows


class MarkedEvidence(NamedTuple):
    """What one person marked.

    Attributes
    ----------
    annotator: None for the reviewer who decided.
    grade: of the judgment or decision.
    quotes: the characters of each range.
    """

    annotator: str | None
    grade: int
    spans: Spans
    quotes: tuple[str, ...]


class PairMarks(NamedTuple):
    """The marks on one version of a pair's document; `decided` are those of the decision that counts."""

    content_hash: str
    people: tuple[MarkedEvidence, ...]
    decided: MarkedEvidence | None = None

    @property
    def consensus(self) -> Spans:
        """The characters that are evidence."""
        if self.decided is not None:
            return self.decided.spans
        return held_by([one.spans for one in self.people], len(self.people) // 2 + 1)

    @property
    def apart(self) -> bool:
        """Whether people gave the same grade and nothing of their marks counts."""
        given = Counter(one.grade for one in self.people)
        return not self.consensus and max(given.values()) > 1

    def found_in(self, newer: Document | None) -> list[tuple[Span, str]] | None:
        """The ranges that are evidence, with their characters; None where one is not found again.

        Parameters
        ----------
        newer: the version that the corpus has, where some evidence of its document is of another one.
        """
        quoted = [(span, self.quote(span)) for span in self.consensus]
        if newer is None or newer.content_hash == self.content_hash:
            return quoted
        found = [find_again(quote, newer.body, span[0]) for span, quote in quoted]
        spans = [one.span for one in found if one is not None]
        if len(spans) < len(quoted):
            return None
        return [(span, newer.body[slice(*span)]) for span in union(spans)]

    def quote(self, span: Span) -> str:
        """The characters of a range that is evidence, from what was marked."""
        start, end = span
        marked = [*self.people, *filter(None, [self.decided])]
        pieces = [piece for one in marked for piece in zip(one.spans, one.quotes, strict=True)]
        text = ""
        while start < end:
            (first, last), quote = next(piece for piece in pieces if piece[0][0] <= start < piece[0][1])
            text += quote[start - first : end - first]
            start = last
        return text


class ProjectMarks(NamedTuple):
    """The marks of all pairs that have some, and the guide in force, by which grades take evidence."""

    guide: Guide
    of: Mapping[Pair, PairMarks]

    def evidence(self, pair: PairConsensus) -> PairMarks | None:
        """The marks of a pair whose grade takes evidence, if there are any."""
        return self.of.get(pair[:2]) if self.guide.takes_evidence(pair.grade) else None

    def is_lost(self, pair: PairConsensus, newer: Mapping[str, Document]) -> bool:
        """Whether the pair's evidence is not in the text that the corpus has now; see `newer_versions`."""
        marks = self.evidence(pair)
        return marks is not None and marks.found_in(newer.get(pair.document_id)) is None

    def is_disputed(self, pair: PairConsensus) -> bool:
        """Whether people disagree on the pair's grade, or on its evidence."""
        if pair.how in ("disputed", "adjudicated"):
            return pair.how == "disputed"
        marks = self.evidence(pair)
        return marks is not None and marks.apart


def read_marks(cursor: Cursor, showings: int | None = None) -> ProjectMarks:
    """All marks that count; `showings` as for `read_votes`."""
    sql = _MARKS.format(decisions=counted_decisions_view(cursor), within=WITHIN)
    some = cursor.execute(_SOME).fetchall()
    rows = (row for table in tables_by_range(cursor, sql, showings) for row in table_rows(table))
    marks = dict(_by_pair(rows)) if some else {}
    return ProjectMarks(current_guide(cursor), marks)


def newer_versions(cursor: Cursor, marks: ProjectMarks) -> dict[str, Document]:
    """Document → the version that the corpus has, of those with marks on another one.

    One whose text stayed where it is, and was not brought in, has no words here: nothing is found in it.
    """
    ids = sorted({document_id for _, document_id in marks.of})
    now = snapshot_versions(cursor, get_setting(cursor, "corpus"), ids) if ids else {}
    changed = {
        document_id: now[document_id]
        for (_, document_id), one in marks.of.items()
        if now.get(document_id, one.content_hash) != one.content_hash
    }
    held = documents_by_hash(cursor, changed.values())
    return {name: held.get(version) or Document(name, version, "", "") for name, version in changed.items()}


def pair_marks(store: Store, query_id: str, document_id: str, door: Door | None = None) -> PairMarks | None:
    """The marks of all who judged a pair; None where nobody marked anything.

    Raises
    ------
    RefusedError: a release seals the query's grades, and the door is shut.
    """
    with store.reading() as cursor:
        door_or_shut(cursor, door).need(query_id)
        sql = _MARKS.format(decisions=counted_decisions_view(cursor), within="true")
        table = cursor.sql(of_one_query(cursor, sql), params={"query": query_id}).to_arrow_table()
    return dict(_by_pair(table_rows(table))).get((query_id, document_id))


def _by_pair(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[Pair, PairMarks]]:
    people: defaultdict[Pair, list[MarkedEvidence]] = defaultdict(list)
    versions: dict[Pair, str] = {}
    decided: dict[Pair, MarkedEvidence] = {}
    for row in rows:
        pair = (row["query_id"], row["document_id"])
        spans = tuple(zip(row["starts"], row["ends"], strict=True))
        marked = MarkedEvidence(row["annotator"], row["grade"], spans, tuple(row["quotes"]))
        if marked.annotator is None:
            decided[pair] = marked
        else:
            people[pair].append(marked)
        if marked.annotator is None or pair not in decided:
            versions[pair] = row["content_hash"]
    for pair, version in versions.items():
        yield pair, PairMarks(version, tuple(people[pair]), decided.get(pair))


_SOME = """
SELECT * FROM (SELECT 1 FROM evidence_marks LIMIT 1) UNION ALL (SELECT 1 FROM decision_marks LIMIT 1)
"""

_RANGES = """list(start_at ORDER BY start_at) AS starts, list(end_at ORDER BY start_at) AS ends,
       list(quote ORDER BY start_at) AS quotes"""

_MARKS = f"""
SELECT query_id, document_id, annotator, grade, content_hash, {_RANGES}
FROM counted_judgments j JOIN evidence_marks m
  ON m.presentation_id = j.presentation_id AND m.revision + 1 = j.next_revision
WHERE same_text AND {{within}} GROUP BY ALL
UNION ALL
SELECT query_id, document_id, NULL, grade, content_hash, {_RANGES}
FROM (FROM {{decisions}} WHERE {{within}}) JOIN decision_marks USING (query_id, document_id, revision)
WHERE grade IS NOT NULL GROUP BY ALL
ORDER BY ALL
"""  # noqa: S608  columns from above
