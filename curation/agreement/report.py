"""The agreement report of a project or of one round, with its findings as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from curation.agreement import breakdowns, disagreement_sources
from curation.agreement.bias import Decisions, read_decisions
from curation.agreement.evidence_agreement import EvidenceAgreement, compute_evidence_agreement
from curation.agreement.fast_answers import MIN_AT_FLOOR, AnswerPace, read_paces
from curation.agreement.grades import Grades, count_values, read_grades
from curation.agreement.inter_annotator import InterAgreement, compute_agreement, find_overlap, why_not_shown
from curation.agreement.intra_annotator import IntraAgreement, pool_consistency, read_repeats, score_repeats
from curation.agreement.outliers import find_uninformative
from curation.agreement.verdict import judge_alpha
from curation.core.statistics.intervals import RESAMPLES
from curation.core.text import interval_text, join_names, percent, pluralize
from curation.guides.guide import Guide, current_guide, load_guide
from curation.labeling.consensus.consensus import ConsensusCounts, compute_consensus
from curation.labeling.consensus.marks import read_marks
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds.rounds import find_round
from curation.people.seal_access import SealAccess, access_or_closed
from curation.store import Cursor, Store

DetailInputs = tuple[breakdowns.QueryTypes, Mapping[str, str], Decisions]
"""The query types, the texts of the queries, and the reviewers' decisions."""


@dataclass(frozen=True)
class Details:
    """The parts and sources of the figures between annotators.

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
    annotator_pairs: tuple[breakdowns.AnnotatorPair, ...]
    few_shared: int
    confusion: disagreement_sources.GradeConfusion
    sources: disagreement_sources.DisagreementSources


@dataclass(frozen=True)
class AgreementReport:
    """Agreement and consistency of the labels of a project or of one round (`round_name`).

    The bootstrap used `seed` and `resamples`; `scale` are the guide's values, `steps` its names for them.
    `details` is None in a report without details. `uninformative` are the annotators who agree with nobody,
    or give one grade only, so that their consistency says nothing. `pace` has the pace of each annotator by
    name. `evidence` is the agreement on marks in the whole project; None for a round, and without marks.
    `disputed` is the number of pairs that wait for a reviewer because of grades or only because of evidence.
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


def make_agreement_report(
    store: Store,
    round_name: str | None = None,
    seed: int = 0,
    details: bool = False,
    *,
    access: SealAccess | None = None,
) -> AgreementReport:
    """Compute the agreement of annotators in the project or in one round; with `details`, also the
    breakdowns.

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
        round_id, guide = _find_guide(cursor, round_name)
        access, grades = access_or_closed(cursor, access), read_grades(cursor, round_id)
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
        evidence=compute_evidence_agreement(marks.of if round_id is None else {}),
    )


def list_findings(report: AgreementReport) -> list[str]:
    """List the checks that could not be made, then the findings, one sentence each."""
    why = why_not_shown(report.between.ordinal)
    unknown = [f"Not checked: agreement between annotators is not known, {why}."] if why else []
    verdict = [] if why else [judge_alpha(report.between).sentence]
    return [*unknown, *list_unchecked(report), *verdict, *list_other_findings(report)]


def list_other_findings(report: AgreementReport) -> list[str]:
    """List the findings besides the verdict, one sentence each."""
    sentences = [row.sentence for row in report.pace if row.unread]
    if report.between.older:
        sentences.append(
            f"Not compared: {pluralize(report.between.older, 'judgment')} about an older text of their "
            "document. Agreement compares only judgments of the same text."
        )
    informative = _select_informative(report)
    consistency = pool_consistency(informative)
    if consistency.why is None:
        annotators = pluralize(sum(row.n > 0 for row in informative), "annotator")
        sentences.append(
            f"{annotators} repeated {percent(consistency.identical)} of {pluralize(consistency.n, 'grade')} "
            "on blind duplicates (95 % interval "
            f"{interval_text(consistency.low, consistency.high)}).{_name_uninformative(report)}"
        )
    return [*sentences, _state_disputes(report)]


def list_unchecked(report: AgreementReport) -> list[str]:
    """List the checks that could not be made besides the verdict, with reasons, one sentence each."""
    sentences = []
    why = pool_consistency(_select_informative(report)).why
    if why is not None:
        sentences.append(
            f"Not checked: consistency of annotators with themselves: {why}.{_name_uninformative(report)}"
        )
    few = [row.annotator for row in report.pace if not row.enough]
    if few:
        sentences.append(
            f"Not checked: the pace of {join_names(few)}, with fewer than {MIN_AT_FLOOR} timed answers each."
        )
    return sentences


def _find_guide(cursor: Cursor, round_name: str | None) -> tuple[str | None, Guide]:
    """Find the id and the guide of a round; without a name, None and the current guide."""
    if round_name is None:
        return None, current_guide(cursor)
    round_row = find_round(cursor, round_name)
    return round_row.round_id, load_guide(cursor, round_row.guide_hash)


def _read_detail_inputs(cursor: Cursor) -> DetailInputs:
    """Read the query types, the texts of the queries, and the reviewers' decisions."""
    types = breakdowns.read_query_types(cursor)
    return types, disagreement_sources.read_query_texts(cursor), read_decisions(cursor)


def _compute_details(
    grades: Grades, scale: tuple[int, ...], inputs: DetailInputs, seed: int, access: SealAccess
) -> Details:
    types, texts, decisions = inputs
    overlap = find_overlap(count_values(grades, scale), grades.unit_queries)
    pairs, few_shared = breakdowns.compare_annotator_pairs(grades, scale, seed)
    by_type, boundaries = breakdowns.compute_breakdowns(grades, scale, types, seed)
    return Details(
        types=by_type,
        boundaries=boundaries,
        annotator_pairs=pairs,
        few_shared=few_shared,
        confusion=disagreement_sources.count_grade_confusion(overlap, scale),
        sources=disagreement_sources.find_sources(overlap, grades, scale, texts, decisions, access),
    )


def _select_informative(report: AgreementReport) -> tuple[IntraAgreement, ...]:
    return tuple(row for row in report.within if row.annotator not in report.uninformative)


def _name_uninformative(report: AgreementReport) -> str:
    """Name the annotators who are left out of consistency because their grades agree with nobody's."""
    if not report.uninformative:
        return ""
    return (
        f" This leaves out {', '.join(report.uninformative)}, whose grades agree with nobody's or are nearly "
        "always the same: repeating such grades shows no consistency."
    )


def _state_disputes(report: AgreementReport) -> str:
    pairs = report.consensus.pairs
    if report.disputed:
        disputed = f"{report.disputed:,} of {pairs:,} judged pairs are disputed"
        return f"{disputed} and wait for a reviewer's decision."
    return f"None of the {pairs:,} judged pairs is disputed." if pairs else "No pair is judged yet."
