"""The evidence of a grade: the characters of a document that most people marked.

Evidence is the characters that show the grade. A character is evidence if more than half of the people with
marks marked the character; if only one person made marks, the evidence is that person's marks. The marks of a
reviewer's decision replace the annotators' marks. Where two people gave the same grade and their marks have
no common character, the pair is disputed until a reviewer decides it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from curation.core.similarity.quotes import relocate_quote
from curation.core.spans import Span, Spans, covered_by_at_least, union
from curation.guides.guide import Guide, current_guide
from curation.ingest.filters import find_outside_pairs
from curation.labeling.consensus.consensus import PairConsensus
from curation.labeling.consensus.decisions import Pair
from curation.labeling.consensus.votes import choose_decisions_view
from curation.store import Cursor, Document, get_setting
from curation.store.documents import documents_by_hash, snapshot_versions
from curation.store.query_ranges import WITHIN, read_by_range
from curation.store.release_parts import table_rows

_ANY_MARKS = "(FROM evidence_marks SELECT 1 LIMIT 1) UNION ALL (FROM decision_marks SELECT 1 LIMIT 1)"
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


class MarkedEvidence(NamedTuple):
    """The characters of a document that one person marked as evidence.

    Attributes
    ----------
    annotator: the annotator's id; None for the marks of a reviewer's decision.
    grade: the grade of the judgment or decision.
    quotes: the characters of each range.
    """

    annotator: str | None
    grade: int
    spans: Spans
    quotes: tuple[str, ...]


class PairMarks(NamedTuple):
    """The marks on a version of a pair's document; `decided` holds the marks from the decision that
    counts."""

    content_hash: str
    people: tuple[MarkedEvidence, ...]
    decided: MarkedEvidence | None = None

    @property
    def _counted_marks(self) -> tuple[MarkedEvidence, ...]:
        return self.people if self.decided is None else (self.decided,)

    @property
    def consensus(self) -> Spans:
        """Return the characters of the document that are evidence of the grade."""
        counted_spans = [mark.spans for mark in self._counted_marks]
        return covered_by_at_least(counted_spans, len(counted_spans) // 2 + 1)

    @property
    def are_apart(self) -> bool:
        """Return whether people gave the same grade, but have no marked character in common."""
        grade_counts = Counter(person.grade for person in self.people)
        return not self.consensus and max(grade_counts.values(), default=0) > 1

    def locate_evidence(self, newer: Document | None) -> list[tuple[Span, str]] | None:
        """Return the evidence ranges with their characters; None if a range is not found in `newer`.

        Parameters
        ----------
        newer: the corpus's version of the document, where some of its evidence is in an older version.
        """
        characters: dict[int, str] = {}
        for mark in self._counted_marks:
            for span, quote in zip(mark.spans, mark.quotes, strict=True):
                characters |= dict(enumerate(quote, span[0]))
        quoted = [(span, "".join(characters[index] for index in range(*span))) for span in self.consensus]
        if newer is None or newer.content_hash == self.content_hash:
            return quoted
        matches = [relocate_quote(quote, newer.body, span[0]) for span, quote in quoted]
        spans = union(match.span for match in matches if match is not None)
        return None if None in matches else [(span, newer.body[slice(*span)]) for span in spans]


class ProjectMarks(NamedTuple):
    """Marks by pair, and the current guide, which says for which grades evidence must be marked.

    outside: pairs whose document does not pass the query's filter; reviewers need not decide these pairs.
    """

    guide: Guide
    by_pair: Mapping[Pair, PairMarks]
    outside: Collection[Pair] = ()

    def find_evidence(self, pair: PairConsensus) -> PairMarks | None:
        """Return the marks on a pair whose grade calls for evidence; None if the pair has no marks."""
        return self.by_pair.get(pair[:2]) if self.guide.takes_evidence(pair.grade) else None

    def lacks_marks(self, pair: Pair, grade: int | None) -> bool:
        """Return whether a decision without marks would leave the grade without the evidence that the guide
        requires for it."""
        marks = self.by_pair.get(pair)
        needed = bool(self.guide.describe_evidence_problem(grade, has_evidence=False))
        return needed and marks is not None and marks._replace(decided=None).are_apart

    def is_lost(self, pair: PairConsensus, newer: Mapping[str, Document]) -> bool:
        """Return whether the evidence is missing from the corpus's current text (`read_newer_versions`)."""
        marks = self.find_evidence(pair)
        return marks is not None and marks.locate_evidence(newer.get(pair.document_id)) is None

    def is_disputed(self, pair: PairConsensus) -> bool:
        """Return whether people disagree on the pair's grade or evidence."""
        if pair.how == "adjudicated" or pair[:2] in self.outside:
            return False
        if pair.how == "disputed":
            return True
        marks = self.find_evidence(pair)
        return marks is not None and marks.are_apart


def read_marks(cursor: Cursor, batch_size: int | None = None) -> ProjectMarks:
    """Read all marks that count; `batch_size` limits the presentations read at a time, as in `read_votes`."""
    sql = _MARKS.format(decisions=choose_decisions_view(cursor), within=WITHIN)
    has_marks = cursor.execute(_ANY_MARKS).fetchall()
    rows = (row for table in read_by_range(cursor, sql, batch_size) for row in table_rows(table))
    marks = dict(_group_by_pair(rows)) if has_marks else {}
    return ProjectMarks(current_guide(cursor), marks, find_outside_pairs(cursor))


def read_newer_versions(cursor: Cursor, marks: ProjectMarks) -> dict[str, Document]:
    """Read the corpus's current versions of the documents with marks on an older version, keyed by document
    id.

    A document of an external corpus whose text is not stored has an empty body.
    """
    ids = sorted({document_id for _, document_id in marks.by_pair})
    versions = snapshot_versions(cursor, get_setting(cursor, "corpus"), ids) if ids else {}
    changed = {
        document_id: versions[document_id]
        for (_, document_id), marks_of_pair in marks.by_pair.items()
        if versions.get(document_id, marks_of_pair.content_hash) != marks_of_pair.content_hash
    }
    texts = documents_by_hash(cursor, changed.values())
    return {name: texts.get(version) or Document(name, version, "", "") for name, version in changed.items()}


def _group_by_pair(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[Pair, PairMarks]]:
    """Group rows by pair; rows must be ordered by pair, with the reviewer's marks last."""
    for pair, group in groupby(rows, key=lambda row: (row["query_id"], row["document_id"])):
        marks = []
        for row in group:
            spans = tuple(zip(row["starts"], row["ends"], strict=True))
            marks.append(MarkedEvidence(row["annotator"], row["grade"], spans, tuple(row["quotes"])))
        people = tuple(mark for mark in marks if mark.annotator is not None)
        yield pair, PairMarks(row["content_hash"], people, None if marks[-1] in people else marks[-1])
