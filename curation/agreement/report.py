"""The agreement report: how well the labels in a project or in one round agree, and how consistent they
are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from curation.agreement import breakdowns, disagreement_sources
from curation.agreement.annotator_pairs import AnnotatorPair, compare_annotator_pairs
from curation.agreement.bias import Decisions, read_decisions
from curation.agreement.evidence_agreement import EvidenceAgreement, compute_evidence_agreement
from curation.agreement.fast_answers import AnswerPace, read_paces
from curation.agreement.grades import Grades, count_values, read_grades
from curation.agreement.inter_annotator import InterAgreement, compute_agreement, find_overlap
from curation.agreement.intra_annotator import IntraAgreement, read_repeats, score_repeats
from curation.agreement.outliers import find_uninformative
from curation.core.statistics.bootstrap import RESAMPLES
from curation.guides.guide import current_guide, load_guide
from curation.labeling.consensus.consensus import ConsensusCounts, compute_consensus
from curation.labeling.consensus.marks import read_marks
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds.rounds import find_round
from curation.people.seal_access import SealAccess, resolve_access
from curation.store import Cursor, Store

DetailInputs = tuple[breakdowns.QueryTypes, Mapping[str, str], Decisions]
"""Query types, query texts, and reviewers' decisions, from which the report's details are computed."""


@dataclass(frozen=True)
class Details:
    """Details of an agreement report: breakdowns, annotator pairs, confusion, sources of disagreement.

    Attributes
    ----------
    types, boundaries: breakdowns of agreement by query type and by grade boundary.
    annotator_pairs: each two annotators who share enough pairs; `few_shared` counts the other pairs of
        annotators.
    confusion: confusion table of the grades.
    sources: queries and lines of the guide that cause the disagreement.
    """

    types: tuple[breakdowns.Breakdown, ...]
    boundaries: tuple[breakdowns.Breakdown, ...]
    annotator_pairs: tuple[AnnotatorPair, ...]
    few_shared: int
    confusion: disagreement_sources.GradeConfusion
    sources: disagreement_sources.DisagreementSources


@dataclass(frozen=True)
class AgreementReport:
    """Agreement and consistency of the labels of a project or of one round.

    Attributes
    ----------
    round_name: the name of the round; None for the project.
    seed, resamples: the seed of the bootstrap and its number of resamples.
    scale, steps: the values of the guide's grades, and their names.
    between, within: the agreement between annotators, and the consistency of each annotator.
    disputed: the number of pairs that wait for a reviewer because of grades or only because of evidence.
    details: None in a report without details.
    uninformative: annotators whose consistency says nothing: they agree with nobody or give one grade.
    pace: the pace of each annotator, ordered by name.
    evidence: the agreement on marks in the whole project; None for a round, and without marks.
    """

    round_name: str | None
    seed: int
    resamples: int
    scale: tuple[int, ...]
    steps: tuple[str, ...]
    between: InterAgreement
    within: tuple[IntraAgreement, ...]
    consensus: ConsensusCounts
    disputed: int
    details: Details | None = None
    uninformative: tuple[str, ...] = ()
    pace: tuple[AnswerPace, ...] = ()
    evidence: EvidenceAgreement | None = None

    @property
    def informative(self) -> tuple[IntraAgreement, ...]:
        """Return the consistency of the annotators whose grades depend on the pair."""
        return tuple(row for row in self.within if row.annotator not in self.uninformative)


def make_agreement_report(
    store: Store,
    round_name: str | None = None,
    seed: int = 0,
    details: bool = False,
    *,
    access: SealAccess | None = None,
) -> AgreementReport:
    """Compute annotators' agreement in the project or in one round, and with `details` also the breakdowns.

    Parameters
    ----------
    access: decides which sealed pairs the details show. By default the details show no sealed pair; the
        figures include all pairs.

    Raises
    ------
    NotFoundError: no round has this name.
    RefusedError: a grade is outside the scale of the current guide, or of the round's guide.
    """
    with store.reading() as cursor:
        round_row = None if round_name is None else find_round(cursor, round_name)
        round_id = round_row and round_row.round_id
        guide = load_guide(cursor, round_row.guide_hash) if round_row else current_guide(cursor)
        access, grades = resolve_access(cursor, access), read_grades(cursor, round_id)
        within = tuple(map(score_repeats, read_repeats(cursor, round_id)))
        votes, pace = read_votes(cursor, round_id), read_paces(cursor, round_id)
        inputs = _read_detail_inputs(cursor) if details else None
        marks = read_marks(cursor)
    consensus = compute_consensus(votes)
    scale = guide.values
    return AgreementReport(
        round_name=round_name,
        seed=seed,
        resamples=RESAMPLES,
        scale=scale,
        steps=tuple(step.name for step in guide.scale),
        between=compute_agreement(grades, scale, seed),
        within=within,
        consensus=consensus.counts,
        disputed=sum(map(marks.is_disputed, consensus)),
        details=_compute_details(grades, scale, inputs, seed, access) if inputs else None,
        uninformative=tuple(sorted(find_uninformative(grades))),
        pace=pace,
        evidence=compute_evidence_agreement(marks.by_pair if round_id is None else {}),
    )


def _read_detail_inputs(cursor: Cursor) -> DetailInputs:
    """Read the query types, query texts, and reviewers' decisions."""
    types = breakdowns.read_query_types(cursor)
    return types, disagreement_sources.read_query_texts(cursor), read_decisions(cursor)


def _compute_details(
    grades: Grades, scale: tuple[int, ...], inputs: DetailInputs, seed: int, access: SealAccess
) -> Details:
    types, texts, decisions = inputs
    overlap = find_overlap(count_values(grades, scale), grades.unit_queries)
    pairs, few_shared = compare_annotator_pairs(grades, scale, seed)
    by_type, boundaries = breakdowns.compute_breakdowns(grades, scale, types, seed)
    return Details(
        types=by_type,
        boundaries=boundaries,
        annotator_pairs=pairs,
        few_shared=few_shared,
        confusion=disagreement_sources.count_grade_confusion(overlap, scale),
        sources=disagreement_sources.find_sources(overlap, grades, scale, texts, decisions, access),
    )
