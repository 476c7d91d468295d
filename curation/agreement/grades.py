"""Judgments of pairs as arrays, from which all agreement between annotators is computed.

Each annotator has one judgment for each pair. Reading the rows leaves out blind duplicates, control items,
practice and (for the whole project) pilot rounds, so no statistic can include them. It also leaves out and
counts (`older`) judgments of other versions of a document, because judgments of two texts cannot be compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Ints, Mask
from curation.core.text import pluralize
from curation.labeling.judging import LAST_EVENT_JOIN
from curation.store import Cursor
from curation.store.query_ranges import WITHIN, read_by_range

_IDS = ("query_id", "document_id", "annotator")
MINIMUM_GRADES = 30
"""Minimum number of comparable grades for comparing an annotator with the others."""


class Grades(NamedTuple):
    """Judgments in long form, ordered by pair and annotator; Q queries, U pairs, A annotators, J judgments.

    Attributes
    ----------
    query_ids, documents, names: of length Q, U and A; queries and pairs in the order of their ids.
    unit_queries: shape (U,), index of the query of each (query, document) pair.
    units, people: shape (J,), index of the pair and of the annotator of each judgment.
    graded: shape (J,), False for a cannot-tell.
    grades: shape (J,), the grade of each judgment; 0 for a cannot-tell.
    at: shape (J,), time of each judgment (UTC); NaT if the time is unknown.
    reasons: the pair and the reason of each cannot-tell, ordered.
    older: number of judgments about an older text of their document, which are left out.
    """

    query_ids: Sequence[str]
    documents: Sequence[str]
    names: Sequence[str]
    unit_queries: Ints
    units: Ints
    people: Ints
    graded: NDArray[np.bool_]
    grades: Ints
    at: NDArray[np.datetime64]
    reasons: Sequence[tuple[int, str]] = ()
    older: int = 0

    @property
    def annotators(self) -> int:
        """Return the number of annotators who gave these judgments."""
        return len(self.names)

    @property
    def cannot_tell(self) -> int:
        """Return the number of cannot-tell judgments."""
        return int((~self.graded).sum())

    @property
    def graded_by_annotator(self) -> Grades:
        """Return the judgments with a grade, ordered by annotator."""
        rows = np.flatnonzero(self.graded)
        return self.select(rows[np.argsort(self.people[rows], kind="stable")])

    @property
    def annotator_slices(self) -> list[slice]:
        """Return the slice of each annotator's rows, for judgments that are ordered by annotator."""
        ends = np.searchsorted(self.people, np.arange(len(self.names) + 1)).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    def exclude(self, outliers: Collection[str]) -> Mask:
        """Make a mask that is False for outliers, shape (A,)."""
        return np.asarray([name not in outliers for name in self.names], dtype=bool)

    def select(self, rows: NDArray[np.bool_] | Ints) -> Grades:
        """Select judgments by a mask of shape (J,) or by their indexes. All names are kept."""
        return self._replace(
            units=self.units[rows],
            people=self.people[rows],
            graded=self.graded[rows],
            grades=self.grades[rows],
            at=self.at[rows],
        )


def read_grades(cursor: Cursor, round_id: str | None = None, showings: int | None = None) -> Grades:
    """Read the judgments that count, from the whole project or from one round.

    Parameters
    ----------
    showings: maximum number of showings to read at a time; a small number needs less memory and more time
        (`query_ranges`).
    """
    relation, parameters = _select_relation(round_id)
    cursor.execute("SELECT 1").fetchall()  # Arrow blocks while a result of fetchone() is only half read
    sql = f"""
        SELECT query_id, document_id, annotator, j.kind = 'grade' AS graded, coalesce(j.grade, 0) AS grade,
               CASE WHEN e.time_known THEN j.submitted_at END AS at,
               j.reason, j.content_hash = first_value(j.content_hash) OVER newest AS same_text
        FROM (FROM {relation} WHERE {WITHIN}) j {LAST_EVENT_JOIN}
        WINDOW newest AS (
            PARTITION BY query_id, document_id ORDER BY in_force DESC, round_sequence DESC, written DESC)
        QUALIFY row_number() OVER (
            PARTITION BY annotator, query_id, document_id, content_hash
            ORDER BY round_sequence DESC, written DESC) = 1
        ORDER BY query_id, document_id, annotator
    """  # noqa: S608  words from code
    ranges, judgments = [], 0
    for rows in read_by_range(cursor, sql, showings, **parameters):
        judgments += rows.num_rows
        same_text = rows.filter(rows["same_text"])
        ranges.append(same_text if showings is None else _encode_ids(same_text))
    table = pa.concat_tables(ranges)
    return _build_grades(table)._replace(older=judgments - table.num_rows)


def make_grades(rows: Iterable[tuple[str, str, str, int | None]]) -> Grades:
    """Build the judgment arrays from rows of query, document, annotator and grade; None is cannot-tell.

    Raises
    ------
    RefusedError: an annotator has two judgments of one pair.
    """
    ordered = sorted(rows, key=lambda row: row[:3])
    repeated = [row[:3] for row, following in pairwise(ordered) if row[:3] == following[:3]]
    if repeated:
        query, document, annotator = repeated[0]
        raise RefusedError(
            f"{pluralize(len(repeated), 'pair has', 'pairs have')} two judgments of the same annotator. The "
            f"first pair has two judgments by {annotator}: query {query!r} and document {document!r}. "
            "Agreement between annotators needs one judgment of each annotator: keep the judgment that "
            "counts."
        )
    columns = list(zip(*ordered, strict=True)) or [(), (), (), ()]
    graded = [grade is not None for grade in columns[3]]
    table = {
        **{name: pa.array(columns[index], pa.string()) for index, name in enumerate(_IDS)},
        "graded": pa.array(graded, pa.bool_()),
        "grade": pa.array([grade or 0 for grade in columns[3]], pa.int64()),
        "at": pa.array([0] * len(ordered), pa.timestamp("us")),
        "reason": pa.nulls(len(ordered), pa.string()),
    }
    return _build_grades(pa.table(table))


def count_values(grades: Grades, scale: Sequence[int]) -> Ints:
    """Count how often each pair got each grade of an ascending scale, shape (U, values).

    Raises
    ------
    RefusedError: a grade is not on the scale.
    """
    values = np.asarray(scale, dtype=np.int64)
    given_grades = grades.grades[grades.graded]
    _refuse_off_scale(given_grades, values)
    cells = grades.units[grades.graded] * len(values) + np.searchsorted(values, given_grades)
    unit_count = len(grades.documents)
    return np.bincount(cells, minlength=unit_count * len(values)).reshape(unit_count, len(values))


def _select_relation(round_id: str | None) -> tuple[str, dict[str, str]]:
    """Choose the SQL relation with the judgments to compare, and the relation's parameters.

    For a round, the relation has all judgments of the round, even if a later round asked for the same pairs.
    """
    if round_id is None:
        return "eligible_judgments", {}
    return (
        """(SELECT j.*, true AS in_force, 0 AS round_sequence
            FROM current_judgments j ANTI JOIN known_answers USING (round_id, query_id, document_id)
            WHERE j.duplicate_of IS NULL AND j.round_id = $round)""",
        {"round": round_id},
    )


def _build_grades(rows: pa.Table) -> Grades:
    """Build the judgment arrays from rows ordered by query, document and annotator."""
    first_query = _mark_changes(rows["query_id"])
    first_unit = first_query | _mark_changes(rows["document_id"])
    units = np.cumsum(first_unit) - 1
    annotators = rows["annotator"].cast(pa.string())
    names = pc.unique(annotators).sort()
    return Grades(
        query_ids=rows["query_id"].filter(pa.array(first_query)).to_pylist(),
        documents=rows["document_id"].filter(pa.array(first_unit)).to_pylist(),
        names=names.to_pylist(),
        unit_queries=(np.cumsum(first_query) - 1)[first_unit],
        units=units,
        people=pc.index_in(annotators, names).to_numpy().astype(np.int64),
        graded=rows["graded"].to_numpy(),
        grades=rows["grade"].to_numpy().astype(np.int64),
        at=rows["at"].to_numpy().astype("datetime64[us]"),
        reasons=_list_reasons(rows["reason"], units),
    )


def _mark_changes(column: pa.ChunkedArray) -> Mask:
    """Mark the rows whose text differs from the previous row."""
    texts = column.cast(pa.string()).combine_chunks()
    is_change = np.ones(len(texts), dtype=bool)
    is_change[1:] = pc.not_equal(texts[1:], texts[: max(0, len(texts) - 1)]).to_numpy(zero_copy_only=False)
    return is_change


def _encode_ids(rows: pa.Table) -> pa.Table:
    """Replace each id by a number (dictionary encoding), which needs a tenth of the memory."""
    for name in _IDS:
        rows = rows.set_column(rows.schema.get_field_index(name), name, rows[name].dictionary_encode())
    return rows


def _list_reasons(column: pa.ChunkedArray, units: Ints) -> list[tuple[int, str]]:
    has_reason = pc.is_valid(column).to_numpy()
    reasons = zip(units[has_reason].tolist(), column.filter(pa.array(has_reason)).to_pylist(), strict=True)
    return sorted((unit, " ".join(text.split())) for unit, text in reasons if text.strip())


def _refuse_off_scale(grades: Ints, scale: Ints) -> None:
    unknown, times = np.unique(grades[~np.isin(grades, scale)], return_counts=True)
    if len(unknown):
        counts = ", ".join(f"{grade} ({count:,} times)" for grade, count in zip(unknown, times, strict=True))
        raise RefusedError(
            f"Grades that are not on the guide's scale ({', '.join(map(str, scale))}): {counts}. Grades on "
            "different scales cannot be compared. Report one round at a time.",
            command="--round NAME chooses a round.",
        )
