"""The content of a release: all that makes the gold set, and nothing of this machine.

Left out on purpose, because they would differ where the labels do not: times, revisions, client keys,
versions, and the names of people, rounds and files. Annotators are 'a1', 'a2', … and rounds 'r1', 'r2', …,
numbered by their judgments (`pseudonyms`). Floats are kept to six significant digits.

Where the consensus has another rule than majority, the release says which, with its settings, what it was
applied to and the annotators' estimated errors, and each grade carries its confidence. Where it was frozen
against the gate, it says who did so (under their number), why, and what stood against it.

Where a random sample of a pool was judged, the part 'pool_sample' has each query's documents by band: those
that were drawn, with their probability, and those that were not. Releases without a sample have no such part.

A grade belongs to the text that was judged. A pair that was judged on another version of its document only is
left out, or kept and marked `"version": "changed"`; judgments and decisions about another version are marked
the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.agreement.gate import GateCheck
from curation.consensus.consensus import PairConsensus, settled
from curation.consensus.rule import MAJORITY
from curation.releases.freeze import judgments as judgment_rows
from curation.releases.freeze import parts
from curation.releases.freeze.figures import Agreement
from curation.releases.freeze.reading import Rows
from curation.releases.stored import FORMAT, NO_NUMBER, Table, rounded, without_relevant
from curation.splits.inputs import GradedQueries, graded_queries

DISPUTED = "disputed pair"
UNJUDGEABLE = "pair that has no grade because nobody could tell"
DECIDED = "pair that has no grade because the reviewer decided so"
CHANGED = "pair graded on another version of the document"
NO_DOCUMENT = "judged pair whose document is not in the current corpus"
NO_QUERY = "judged pair whose query is not in the current sample"
RETIRED = "judged pair whose query was retired"
NO_PART = "graded pair whose query is in no part of the split"
NO_GRADE = "query without a grade"


@dataclass(frozen=True)
class Override:
    """Who froze against the gate, why, and what stood against it."""

    by: str
    reason: str
    against: tuple[GateCheck, ...]


class Sharing(NamedTuple):
    """What a rule did.

    Attributes
    ----------
    grades: grades that were given to further documents.
    conflicts: texts that have different grades for one query under different ids; nothing was shared of them.
    """

    rule: str
    grades: int
    conflicts: int


@dataclass(frozen=True)
class Content:
    """A release before it is frozen.

    Attributes
    ----------
    tables: part name → rows; 'agreement' is still to be computed.
    graded: what leakage is looked for in, with the split's own notion of relevant.
    queries, grades: part of the split → number.
    changed: pairs that were graded on another version of the document and are kept.
    snapshot_id: hash of the corpus.
    people: every name by which the project knows somebody of the release → their number there.
    left_out: reason → number.
    left_out_documents: reason → ids of the documents for which pairs were left out, each once.
    relabeled: what re-labelings did, for the header.
    sharing: the rule by which grades are shared, and what it did; None without one.
    """

    tables: dict[str, Table]
    split: parts.Split
    agreement: Agreement
    graded: GradedQueries
    queries: dict[str, int]
    grades: dict[str, int]
    documents: int
    snapshot_id: str
    changed: int
    people: Mapping[str, str]
    left_out: dict[str, int]
    left_out_documents: dict[str, list[str]]
    relabeled: dict[str, Any]
    sharing: Sharing | None = None

    @property
    def disputed(self) -> int:
        return self.left_out.get(DISPUTED, 0)

    @property
    def without_relevant(self) -> dict[str, int]:
        """Part of the split → queries in it without a relevant document; parts that have such queries."""
        lacking = without_relevant(
            self.tables["queries"], self.tables["qrels"], self.split.parameters["relevant_grade"]
        )
        return dict(sorted(Counter(self.split.parts[query_id] for query_id in lacking).items()))


class _Chosen(NamedTuple):
    """The pairs that the release takes, their queries, and what it leaves out and why."""

    pairs: list[PairConsensus]
    queries: set[str]
    left_out: dict[str, int]
    left_out_documents: dict[str, list[str]]


def content_of(rows: Rows, allow_changed: bool = False) -> Content:
    """What the rows make as a release; `allow_changed` keeps grades of other versions of the documents."""
    split = parts.split_of(rows)
    consensus = settled(rows.labels.votes)
    chosen = _choose(rows, consensus.pairs, split, allow_changed)
    judgments, names = judgment_rows.judgments(rows, chosen.queries)
    people = judgment_rows.people_of(rows, chosen.queries, names)
    tables = {
        "queries": parts.queries(rows, split, chosen.queries),
        "qrels": [parts.qrel(pair, consensus.rule != MAJORITY) for pair in chosen.pairs],
        "documents": rows.labels.snapshot.to_pylist(),
        "split": [{"split_id": split.split_id, "parameters": split.parameters}],
        "edges": parts.edges(rows, chosen.queries),
        "judgments": judgments,
        "rounds": judgment_rows.rounds(rows, names),
        "guides": parts.guides(rows, judgments),
        "adjudications": judgment_rows.adjudications(rows, chosen.queries, people),
        "sampling": parts.sampling(rows),
        **parts.pools(rows, chosen.queries),
        **parts.pool_sample(rows, chosen.queries),
        **parts.answers(rows, chosen.queries),
    }
    judged_again = rows.relabeled.rows({(pair.query_id, pair.document_id) for pair in chosen.pairs})
    if judged_again:
        tables["relabeled"] = judged_again
    relevant = rows.labels._replace(relevant_grade=split.parameters["relevant_grade"])
    return Content(
        tables=tables,
        split=split,
        agreement=Agreement(
            scale=rows.labels.scale,
            grades=rows.grades,
            repeats=tuple(rows.repeats),
            counts=consensus.counts,
            votes=rows.labels.votes,
            demand=rows.demand,
            all_imported=rows.all_imported,
            annotators=names.annotators,
        ),
        graded=graded_queries(relevant, consensus),
        queries=_by_part(split, chosen.queries),
        grades=_by_part(split, (pair.query_id for pair in chosen.pairs)),
        documents=rows.labels.snapshot.num_rows,
        snapshot_id=rows.labels.snapshot_id,
        people=people,
        changed=sum(pair.changed for pair in chosen.pairs),
        left_out=chosen.left_out,
        left_out_documents=chosen.left_out_documents,
        relabeled=rows.relabeled.header(),
    )


def header(content: Content, sealed: Iterable[str] = (), override: Override | None = None) -> Table:
    """What the release is, in one row; 'changed', 'sharing', 'override' and what re-labelings did only where
    there is any."""
    described = {
        "format": FORMAT,
        "split_id": content.split.split_id,
        "snapshot_id": content.snapshot_id,
        "documents": content.documents,
        "queries": content.queries,
        "grades": content.grades,
        "sealed": sorted(sealed),
        "left_out": content.left_out,
    }
    described |= content.relabeled
    if content.changed:
        described["changed"] = content.changed
    if content.sharing is not None:
        described["sharing"] = content.sharing._asdict()
    if override is not None:
        people = {override.by: NO_NUMBER, **content.people}
        described["override"] = {
            "by": people[override.by],
            "reason": judgment_rows.without_names(override.reason, people),
            "against": [rounded(check._asdict()) for check in override.against],
        }
    return [described]


def _by_part(split: parts.Split, query_ids: Iterable[str]) -> dict[str, int]:
    counts = Counter(split.parts[query_id] for query_id in query_ids)
    return {part: counts[part] for part in split.parameters["parts"]}


def _choose(rows: Rows, pairs: Iterable[PairConsensus], split: parts.Split, allow_changed: bool) -> _Chosen:
    """The pairs with a grade that the release takes."""
    documents = set(rows.labels.snapshot["document_id"].to_pylist())
    queries = {query.query_id for query in rows.labels.queries}
    chosen: list[PairConsensus] = []
    graded_queries: set[str] = set()
    left_out: Counter[str] = Counter()
    named: dict[str, set[str]] = {NO_DOCUMENT: set(), CHANGED: set()}
    for pair in pairs:
        if pair.document_id not in documents:
            left_out[NO_DOCUMENT] += 1
            named[NO_DOCUMENT].add(pair.document_id)
        elif pair.query_id in rows.relabeled.retired:
            left_out[RETIRED] += 1
        elif pair.query_id not in queries:
            left_out[NO_QUERY] += 1
        elif reason := _no_grade(pair, allow_changed):
            left_out[reason] += 1
            if reason == CHANGED:
                named[CHANGED].add(pair.document_id)
        elif pair.query_id not in split.parts:
            left_out[NO_PART] += 1
            graded_queries.add(pair.query_id)
        else:
            chosen.append(pair)
    taken = {pair.query_id for pair in chosen}
    left_out[NO_GRADE] = len(queries - graded_queries - taken)
    return _Chosen(
        chosen,
        taken,
        {reason: count for reason, count in sorted(left_out.items()) if count},
        {reason: sorted(found) for reason, found in named.items() if found},
    )


def _no_grade(pair: PairConsensus, allow_changed: bool) -> str | None:
    """Why the pair has no grade that could be frozen. Disputes about an older text need no decision."""
    if pair.changed and not allow_changed and (pair.grade is not None or pair.how == "disputed"):
        return CHANGED
    if pair.grade is not None:
        return None
    return {"disputed": DISPUTED, "adjudicated": DECIDED}.get(pair.how, UNJUDGEABLE)
