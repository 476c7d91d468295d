"""Votes: the judgments that count and the reviewer's decisions, and the rule by which they become a grade.

The rule is kept as the setting 'consensus'; a project without one has majority. No rule has a random step:
Dawid and Skene's EM starts from the shares of votes; the stored rule names this start instead of a seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.digests import canonical_json
from curation.core.errors import refuse_problems
from curation.core.operation import option, out_of_bounds
from curation.core.statistics.arrays import Ints
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting, put_setting, record_event
from curation.store.query_ranges import WITHIN, of_one_query, tables_by_range

MAJORITY, MEDIAN, DAWID_SKENE = "majority", "median", "dawid-skene"
RULES = (MAJORITY, MEDIAN, DAWID_SKENE)

GONE = "ordinal-dawid-skene"
"""A rule of earlier versions; `DAWID_SKENE` does its work now."""

MEANING = {
    MAJORITY: "A pair has the grade that more than half of the votes name.",
    MEDIAN: "A pair has the middle vote. Where two middle votes differ, it has no grade.",
    DAWID_SKENE: "A pair has the most probable grade, from how often each person confuses which grades "
    "(Dawid and Skene).",
}
"""Rule → what it does, in a sentence or two."""

NAMES = {MAJORITY: "Majority", MEDIAN: "Median", DAWID_SKENE: "Dawid and Skene"}

# The grade that a pair had when its re-labeling was planned, and the version that it is about, where no grade
# has more than half of the re-labeling's votes: it counts until the pair has a consensus.
_KEPT = """
    SELECT j.query_id, j.document_id, arg_max(a.grade, j.round_sequence) AS grade,
           arg_max(a.content_hash, j.round_sequence) AS content_hash
    FROM judged j JOIN relabeling_rounds b USING (round_id)
    JOIN relabeling_pairs a USING (plan_id, query_id, document_id)
    GROUP BY ALL HAVING 2 * list_max(map_values(histogram(j.grade))) <= count(j.grade)
"""

_NOTHING_KEPT = "SELECT query_id, document_id, grade, content_hash FROM adjudications WHERE false"

_VOTES = """
WITH corpus AS (
    SELECT document_id, min(content_hash) AS content_hash FROM snapshot_documents
    WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus') GROUP BY document_id),
judged AS (FROM counted_judgments WHERE {within}),
decisions AS (FROM {decisions} WHERE {within}),
kept AS ({kept})
SELECT query_id, document_id, j.annotator, j.grade,
       a.revision IS NOT NULL AS decided, a.grade AS decision,
       coalesce(coalesce(a.content_hash, j.content_hash) <> s.content_hash, false) AS changed,
       k.grade AS kept, coalesce(k.content_hash <> s.content_hash, false) AS kept_changed,
       $round::TEXT IS NULL OR (query_id, document_id) IN (
            SELECT (query_id, document_id) FROM presentations WHERE round_id = $round) AS wanted{more}
FROM judged j FULL JOIN decisions a USING (query_id, document_id)
LEFT JOIN corpus s USING (document_id) LEFT JOIN kept k USING (query_id, document_id)
ORDER BY query_id, document_id
"""


@dataclass(frozen=True)
class ConsensusRule:
    """A rule and its settings; those that a rule does not look at keep their defaults."""

    name: str = option(
        MAJORITY,
        "Rule by which votes become a grade",
        "The project's rule from now on. One of majority, median and dawid-skene.",
        flag="--rule",
        choices=RULES,
        words=NAMES,
        unset="as it is",
    )
    smoothing: float = option(
        0.1,
        "Cases added to each confusion",
        "Cases that dawid-skene adds to each confusion matrix cell.",
        least=0,
        most=100,
        by=0.1,
        unset="0.1 or as it is",
    )
    least: float = option(
        0.5,
        "A grade must be more probable than",
        "Probability that a grade must exceed under Dawid-Skene. Else the pair is disputed.",
        flag="--min-probability",
        least=0.5,
        most=0.99,
        by=0.05,
        unset="0.5 or as it is",
    )

    @property
    def by_errors(self) -> bool:
        """Whether the rule estimates annotators' errors."""
        return self.name == DAWID_SKENE

    @property
    def settings(self) -> dict[str, Any]:
        """All that its outcome depends on besides the votes."""
        if not self.by_errors:
            return {"rule": self.name}
        estimated = {"least": self.least, "start": "vote shares", "smoothing": self.smoothing}
        return {"rule": self.name, **estimated}


def read_rule(cursor: Cursor) -> ConsensusRule:
    """The rule in force: where an older project has one that is `GONE`, the one that does its work now."""
    stored = json.loads(get_setting(cursor, "consensus") or "{}")
    name = stored.get("rule", MAJORITY)
    name = DAWID_SKENE if name == GONE else name
    default = ConsensusRule()
    return ConsensusRule(name, stored.get("smoothing", default.smoothing), stored.get("least", default.least))


def replaced_rule(cursor: Cursor) -> str:
    """What an older project must know of its rule, in a sentence; '' where it is as it was set."""
    stored = json.loads(get_setting(cursor, "consensus") or "{}")
    return (
        f"This project's rule was {GONE}, which is gone: {DAWID_SKENE} does its work now."
        if (stored.get("rule") == GONE)
        else ""
    )


def set_rule(store: Store, rule: ConsensusRule, actor: str = COMMAND_LINE) -> None:
    """Make a rule the project's; it holds for all pairs without a decision from now on.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    NotFoundError, RefusedError: the project does not know the actor, or they are no lead.
    """
    check_consensus_rule(rule)
    with store.transaction() as cursor:
        require_author(cursor, actor, "lead")
        before = read_rule(cursor)
        if before.settings == rule.settings and not replaced_rule(cursor):
            return
        put_setting(cursor, "consensus", canonical_json(rule.settings))
        (judgments,) = cursor.execute("SELECT count(*) FROM counted_judgments").fetchall()[0]
        detail = {"before": before.settings, "now": rule.settings, "judgments": judgments}
        record_event(cursor, "consensus rule", detail, actor)


def check_consensus_rule(rule: ConsensusRule) -> None:
    """Refuse what is no rule.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    """
    problems = []
    if rule.name == GONE:
        problems.append(f"The rule {GONE} is gone: {DAWID_SKENE} does its work now.")
    elif rule.name not in RULES:
        problems.append(f"The rule {rule.name!r}: expected one of {', '.join(RULES)}.")
    problems += out_of_bounds(ConsensusRule, vars(rule))
    refuse_problems(problems)


class Votes(NamedTuple):
    """All votes as rows, and the rule in force.

    Attributes
    ----------
    rows: query_id, document_id, annotator, grade (null: cannot tell), decided, decision, changed, kept,
        kept_changed, wanted; one row a judgment, or one without an annotator for a pair that was only
        decided; ordered by the ids. `changed`: the pair was judged, or decided, on another version of the
        document than the corpus has. `kept`: the grade before the re-labeling whose votes disagree.
    """

    rule: ConsensusRule
    rows: pa.Table


class VotesByPair(NamedTuple):
    """The rows of `Votes` by pair, as arrays.

    Attributes
    ----------
    first: shape (P,), each pair's first row.
    item, annotator, value: shape (J,), pair, annotator and place of the grade in `values`; cannot-tell
        is not among them.
    tally: shape (P, values), votes.
    """

    rows: pa.Table
    first: Ints
    item: Ints
    annotator: Ints
    value: Ints
    names: tuple[str, ...]
    values: Ints
    tally: Ints


def read_votes(cursor: Cursor, round_id: str | None = None, showings: int | None = None) -> Votes:
    """The judgments of every pair, the decisions, and the rule in force.

    Parameters
    ----------
    showings: read so many at a time, which takes less memory and more time (`query_ranges`).
    """
    sql = _VOTES.format(**_views(cursor), within=WITHIN, more="")
    tables = list(tables_by_range(cursor, sql, showings, round=round_id))
    return Votes(read_rule(cursor), pa.concat_tables(tables))


def read_query_votes(cursor: Cursor, query_id: str) -> Votes:
    """The votes of one query, each with what was said besides the grade, and about which text."""
    more = ", j.reason, j.note, j.flagged, j.same_text, j.content_hash"
    sql = _VOTES.format(**_views(cursor), within="true", more=more)
    sql = of_one_query(cursor, sql)
    rows = cursor.sql(sql, params={"query": query_id, "round": None}).to_arrow_table()
    return Votes(read_rule(cursor), rows)


def counted_decisions_view(cursor: Cursor) -> str:
    """The view with the decisions that count.

    Where nobody has decided anything, another one that is as empty: the view that says what counts takes
    20 ms of processor time to plan.
    """
    decided = cursor.execute("SELECT 1 FROM adjudications LIMIT 1").fetchall()
    return "counted_adjudications" if decided else "current_adjudications"


def _views(cursor: Cursor) -> dict[str, str]:
    """What counts besides judgments; a project without a re-labeling keeps no grade, and plans no look."""
    again = cursor.execute("SELECT 1 FROM relabeling_rounds LIMIT 1").fetchall()
    return {"decisions": counted_decisions_view(cursor), "kept": _KEPT if again else _NOTHING_KEPT}


def votes_by_pair(rows: pa.Table) -> VotesByPair:
    number = rows.num_rows
    new = np.ones(number, dtype=bool)
    for name in ("query_id", "document_id"):
        column = rows[name].combine_chunks()
        changed = pc.not_equal(column.slice(1), column.slice(0, max(0, number - 1)))
        kept = changed.to_numpy(zero_copy_only=False).astype(bool)
        new[1:] = kept if name == "query_id" else new[1:] | kept
    item = np.cumsum(new) - 1
    graded = pc.is_valid(rows["grade"]).to_numpy().astype(bool)
    given = rows.filter(pa.array(graded))
    people = given["annotator"].combine_chunks().dictionary_encode()
    grades = given["grade"].to_numpy().astype(np.int64)
    values, value = np.unique(grades, return_inverse=True)
    item, first = item[graded].astype(np.int64), np.flatnonzero(new)
    names, annotator = _by_name(people)
    order = np.lexsort((annotator, value, item))
    tally = np.bincount(item * len(values) + value, minlength=len(first) * len(values))
    return VotesByPair(
        rows,
        first,
        item[order],
        annotator[order],
        value[order].astype(np.int64),
        names,
        values,
        tally.reshape(len(first), len(values)).astype(np.int64),
    )


def pair_column(pairs: VotesByPair, name: str) -> pa.Array:
    """One value a pair."""
    return pairs.rows[name].take(pa.array(pairs.first)).combine_chunks()


def _by_name(people: pa.DictionaryArray) -> tuple[tuple[str, ...], Ints]:
    """Annotators' names in order, and each row's place among them."""
    unordered = people.dictionary.to_pylist()
    names = sorted(unordered)
    places = np.asarray([names.index(name) for name in unordered], dtype=np.int64)
    return tuple(names), places[people.indices.to_numpy().astype(np.int64)]
