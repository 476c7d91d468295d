"""The draft of a release: the content that makes up the gold set, before it is frozen.

A draft has nothing that differs between machines. Times, revisions, client keys, versions, and the names of
people, rounds and files are left out, because they would differ where the labels do not. Annotators are 'a1',
'a2', … and rounds 'r1', 'r2', …, numbered by their judgments (`pseudonyms`). Floats are rounded to six
significant digits.

With a consensus rule other than majority, the release names the rule, with its settings, its inputs and the
annotators' estimated errors, and each grade has a confidence. A release that was frozen despite the gate
contains the person (by number), the reason, and the missed agreement figures.

If a random sample of a pool was judged, the part 'pool_sample' has the documents of each query by rank band:
the drawn documents with their probability, and the other documents. Releases without a sampled pool do not
have the part 'pool_sample'.

If people marked evidence, the part 'evidence' has its ranges in the texts of the release. Evidence from
another version of a text is kept if the text still contains its words. Releases without evidence do not have
the part 'evidence'.

The row of a query in the release contains the query's filter, if any. Pairs outside the filter have the
lowest grade, with the reason (see `freeze.filter_grades.grade_outside_filter`).

A grade belongs to the text that was judged. A pair that was judged only on another version of its document is
left out, or kept and marked `"version": "changed"`. Judgments and decisions about another version of a
document have the same mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curation.agreement.fast_answers import AnswerPace
from curation.agreement.gate import Gate, GateCheck
from curation.ingest.filters import NO_FILTERS, Filters
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.rule import MAJORITY
from curation.labeling.rounds.round_states import RoundState
from curation.queries.contamination import QUERY
from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE
from curation.releases.checksums import round_floats
from curation.releases.freeze import parts
from curation.releases.freeze.agreement_part import make_agreement_part
from curation.releases.freeze.pair_selection import DISPUTED, PairSelection
from curation.releases.freeze.project_rows import ProjectRows, Split
from curation.releases.freeze.pseudonyms import replace_names
from curation.releases.part_rows import FORMAT, NO_NUMBER, PartRows, Rows, find_without_relevant
from curation.releases.requests import FreezeRequest
from curation.splits.graded_queries import GradedQueries, collect_graded_queries
from curation.store.release_parts import PartText, table_rows


@dataclass(frozen=True)
class Override:
    """A freeze despite the agreement gate: who overrode the gate, the reason, and the agreement figures that
    were too low."""

    by: str
    reason: str
    against: tuple[GateCheck, ...]


@dataclass
class ReleaseDraft:
    """The draft of a release before the freeze. Each step of a freeze changes the draft.

    Attributes
    ----------
    tables: part name → rows, large parts as lines; the freeze adds 'split' and 'release' at the end.
    scale: the grades of the guide.
    gate: the agreement against the demand of the project.
    graded: the queries and relevant documents for the check of the split.
    unanswerable: number of queries with the tag `unanswerable`.
    queries, grades: part of the split → number.
    changed: number of grades on another version of the document that are kept.
    n_older_grades: number of pairs with the grade from before a re-labeling, because the new votes disagree.
    disputed_anywhere: number of disputed pairs of the project, in the release or not.
    snapshot_id: hash of the corpus.
    has_only_engine_documents: whether the corpus has only documents that search engines brought.
    people: every name by which the project knows a person of the release → their number there.
    left_out: reason → number.
    left_out_documents: reason → ids of the documents whose pairs were left out, each once.
    relabelings: the fields of the header about re-labelings.
    opinions: (opinions, planned opinions) → number of grades.
    paces: the pace of each annotator, which the release does not contain.
    sharing: the rule by which grades are shared, the number of shared grades, and the number of texts that
        share no grade because they have different grades under different ids; None without a rule.
    sealed: the sealed parts.
    without_relevant: part of the split → number of its queries that have no relevant document.
    """

    request: FreezeRequest
    tables: dict[str, PartRows]
    split: Split
    scale: Sequence[int]
    gate: Gate
    graded: GradedQueries
    unanswerable: int
    queries: dict[str, int]
    grades: dict[str, int]
    documents: int
    snapshot_id: str
    changed: int
    n_older_grades: int
    disputed_anywhere: int
    people: Mapping[str, str]
    left_out: dict[str, int]
    left_out_documents: dict[str, list[str]]
    relabelings: dict[str, Any]
    opinions: Counter[tuple[int, int]]
    open_rounds: Sequence[RoundState]
    paces: Sequence[AnswerPace]
    has_only_engine_documents: bool
    sharing: dict[str, Any] | None = None
    sealed: tuple[str, ...] = ()
    without_relevant: dict[str, int] = field(default_factory=dict)

    @property
    def half_judged(self) -> int:
        """Return the number of grades with fewer opinions than were planned."""
        return sum(count for (given, planned), count in self.opinions.items() if given < planned)

    @property
    def disputed(self) -> int:
        return self.left_out.get(DISPUTED, 0)

    def hide_sealed_matches(self) -> None:
        """Leave out training-data matches of sealed queries' answers and documents, which would reveal
        grades."""
        for row in self.tables["queries"]:
            if row["part"] in self.sealed and "contamination" in row:
                row["contamination"] = [match for match in row["contamination"] if match["what"] == QUERY]

    def count_without_relevant(self) -> None:
        """Set the field `without_relevant`: the queries without a relevant document, once all grades are
        known."""
        relevant_grade = self.split.parameters["relevant_grade"]
        lacking = find_without_relevant(self.tables["queries"], self.tables["qrels"], relevant_grade)
        self.without_relevant = dict(sorted(Counter(self.split.parts[name] for name in lacking).items()))


def make_draft(
    rows: ProjectRows, request: FreezeRequest = FreezeRequest(), filters: Filters = NO_FILTERS
) -> ReleaseDraft:
    """Make the draft of a release from the project's rows, as the request asks.

    Parameters
    ----------
    filters: the filters of queries, for the part of queries.
    """
    split = rows.split
    consensus = compute_consensus(rows.labels.votes)
    selection = PairSelection(rows, request, filters)
    confident = consensus.rule != MAJORITY
    qrels = PartText.of_rows(parts.make_qrel(pair, confident) for pair in consensus if selection.add(pair))
    judgments = parts.make_judgments(rows, selection.queries)
    people = parts.map_names(rows, selection.queries, judgments.annotators)
    gate, agreement = make_agreement_part(rows, consensus.counts, judgments.annotators)
    tables: dict[str, PartRows] = {
        "queries": parts.make_queries(rows, selection.queries, filters.queries),
        "qrels": qrels,
        "documents": PartText.of_rows(table_rows(rows.labels.snapshot)),
        "edges": parts.make_edges(rows, selection.queries),
        "judgments": judgments.text,
        "rounds": parts.make_rounds(rows, judgments.rounds),
        "guides": parts.make_guides(rows, judgments.guide_hashes),
        "adjudications": parts.make_adjudications(rows, selection.queries, people),
        "agreement": agreement,
        "sampling": parts.make_sampling(rows),
        **parts.make_pools(rows, selection.queries),
    }
    optional = {  # releases without such rows have no such part, and keep their ids
        "pool_sample": parts.make_pool_sample(rows, selection.queries),
        "answers": parts.make_answers(rows, selection.queries),
        "nuggets": parts.make_nuggets(rows, selection.queries),
        "relabeled": parts.make_relabeled(rows, selection.relabeled),
        "evidence": selection.evidence,
    }
    tables |= {part: table for part, table in optional.items() if table}
    relevant = rows.labels._replace(relevant_grade=split.parameters["relevant_grade"])
    return ReleaseDraft(
        request=request,
        tables=tables,
        split=split,
        scale=rows.labels.scale,
        gate=gate,
        graded=collect_graded_queries(relevant, consensus),
        unanswerable=sum(UNANSWERABLE in row["tags"] for row in tables["queries"]),
        queries=_count_by_part(split, Counter(split.parts[query_id] for query_id in selection.queries)),
        grades=_count_by_part(split, selection.grades),
        documents=rows.labels.snapshot.num_rows,
        snapshot_id=rows.labels.snapshot_id,
        people=people,
        changed=selection.changed,
        n_older_grades=selection.n_older_grades,
        disputed_anywhere=consensus.counts.disputed,
        left_out=selection.left_out,
        left_out_documents=selection.left_out_documents,
        relabelings=rows.relabelings,
        opinions=selection.opinions,
        open_rounds=rows.open_rounds,
        paces=rows.paces,
        has_only_engine_documents=rows.has_only_engine_documents,
    )


def make_header(draft: ReleaseDraft, override: Override | None = None) -> Rows:
    """Return the header row, which describes the release.

    The header leaves out fields that the release does not need.
    """
    header = {
        "format": FORMAT,
        "split_id": draft.split.split_id,
        "snapshot_id": draft.snapshot_id,
        "documents": draft.documents,
        "queries": draft.queries,
        "grades": draft.grades,
        "sealed": list(draft.sealed),
        "left_out": draft.left_out,
    }
    optional = {
        "changed": draft.changed,
        "only_complete": draft.request.only_complete,
        "held": draft.has_only_engine_documents,
        "sharing": draft.sharing,
    }
    header |= draft.relabelings | {name: value for name, value in optional.items() if value}
    if override is not None:
        people = {override.by: NO_NUMBER, **draft.people}
        header["override"] = {
            "by": people[override.by],
            "reason": replace_names(override.reason, people),
            "against": [round_floats(check._asdict()) for check in override.against],
        }
    return [header]


def _count_by_part(split: Split, counts: Mapping[str, int]) -> dict[str, int]:
    return {part: counts.get(part, 0) for part in split.parameters["parts"]}
