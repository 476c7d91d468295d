"""The agreement report: between annotators, within each, and the consensus, with sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.agreement.annotators.agreement_with_others import uninformative_of
from curation.agreement.annotators.fast_answers import FEWEST_AT_FLOOR, AnswerPace, read_paces
from curation.agreement.annotators.intra_annotator import (
    IntraAgreement,
    intra_agreement,
    pooled_consistency,
    read_repeats,
)
from curation.agreement.between.annotator_pairs import AnnotatorPair, annotator_pairs
from curation.agreement.between.breakdowns import Breakdown, breakdown
from curation.agreement.between.disagreement_sources import (
    DisagreementSources,
    Words,
    disagreement_sources,
    read_words,
)
from curation.agreement.between.evidence import EvidenceAgreement, evidence_agreement
from curation.agreement.between.grade_confusion import GradeConfusion, confusion
from curation.agreement.between.grades import (
    Grades,
    Types,
    at_boundary,
    read_grades,
    read_types,
    value_counts,
)
from curation.agreement.between.inter_annotator import InterAgreement, basis_of, inter_agreement
from curation.agreement.report.verdict import verdict_of
from curation.core.errors import InputError
from curation.core.statistics.intervals import RESAMPLES
from curation.core.text import amount, ends, listed, percent
from curation.guides.guide import Guide, current_guide, guide_by_hash
from curation.labeling.consensus.consensus import ConsensusCounts, settled
from curation.labeling.consensus.evidence import read_marks
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds.rounds import find_round
from curation.people.annotators import require_annotators
from curation.people.seal_access import SealAccess, door_or_shut
from curation.store import Cursor, Store


@dataclass(frozen=True)
class Details:
    """The parts and sources of the figures between annotators.

    Attributes
    ----------
    by: agreement by query type, grade boundary and week.
    annotator_pairs: each two annotators who share enough pairs; `few_shared` is how many share too few.
    confusion: which grades were taken for which.
    sources: the queries and the lines of the guide that the disagreement comes from.
    """

    by: Breakdown
    annotator_pairs: tuple[AnnotatorPair, ...]
    few_shared: int
    confusion: GradeConfusion
    sources: DisagreementSources


@dataclass(frozen=True)
class AgreementReport:
    """What can be said about the labels of a project or of one round (`round_name`).

    `seed` and `resamples` are those of the bootstrap; `scale` are the guide's values, `steps` its names for
    them; with a `boundary` these are its two sides, 0 and 1. `annotators` are those asked for; None is all.
    `details` are None where they were not asked for. `uninformative` are the annotators who agree with
    nobody, or give one grade only, so that their consistency says nothing. `pace` is everybody's, by name.
    `evidence`: of the marks of the whole project; None for a round, and where nobody marked anything.
    `disputed`: pairs that wait for a reviewer, about grades or about evidence alone.
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
    annotators: list[str] | None = None
    boundary: int | None = None
    pace: tuple[AnswerPace, ...] = ()
    evidence: EvidenceAgreement | None = None


def agreement_report(
    store: Store,
    round_name: str | None = None,
    seed: int = 0,
    details: bool = False,
    *,
    annotators: Sequence[str] | None = None,
    boundary: int | None = None,
    door: SealAccess | None = None,
) -> AgreementReport:
    """The agreement of the project's annotators, or of one round's; with `details`, also its parts.

    Parameters
    ----------
    annotators: only what these said; None is everybody. How pairs are settled is about all votes.
    boundary: between annotators, grades count as below this grade, or this and above.
    door: without one, what was said on pairs that a release seals is in the figures and not in the details.

    Raises
    ------
    InputError: fewer than two annotators, or a boundary that is not on the scale.
    NotFoundError: no round has this name, or the project does not know an annotator.
    RefusedError: grades are outside the scale of the guide in force (for a round: of its guide).
    """
    with store.reading() as cursor:
        round_id, guide = _round(cursor, round_name)
        names, door = _chosen(cursor, annotators), door_or_shut(cursor, door)
        grades = read_grades(cursor, round_id, names)
        repeats = [row for row in read_repeats(cursor, round_id) if names is None or row.annotator in names]
        votes = read_votes(cursor, round_id)
        pace = tuple(row for row in read_paces(cursor, round_id) if names is None or row.annotator in names)
        asides = (read_types(cursor), read_words(cursor)) if details else None
        marks = read_marks(cursor)
        compared = marks.of if round_id is None else {}
    uninformative = tuple(sorted(uninformative_of(grades)))
    decided = settled(votes)
    scale, steps = guide.values, tuple(step.name for step in guide.scale)
    if boundary is not None:
        grades = at_boundary(grades, scale, boundary)
        scale, steps = (0, 1), (f"below {boundary}", f"{boundary} or above")
    return AgreementReport(
        round_name=round_name,
        seed=seed,
        resamples=RESAMPLES,
        scale=scale,
        steps=steps,
        between=inter_agreement(grades, scale, seed),
        within=tuple(intra_agreement(row) for row in repeats),
        consensus=decided.counts,
        disputed=sum(map(marks.is_disputed, decided)),
        details=_details(grades, scale, *asides, seed, door) if asides else None,
        uninformative=uninformative,
        annotators=names,
        boundary=boundary,
        pace=pace,
        evidence=evidence_agreement(compared, names),
    )


def agreement_findings(report: AgreementReport) -> list[str]:
    """What could not be checked, then what the figures say, a sentence each."""
    why, verdict = report.between.ordinal.not_shown, verdict_of(report.between).sentence
    first = [f"Not checked: agreement between annotators is not known, {why}."] if why else []
    return [*first, *not_checked(report), *[verdict] * (not why), *other_findings(report)]


def other_findings(report: AgreementReport) -> list[str]:
    """What the figures say besides the verdict, a sentence each."""
    found = [row.sentence for row in report.pace if row.unread]
    found += _older_finding(report.between.older)
    consistency = pooled_consistency(_counting(report))
    if consistency.why is None:
        who = amount(sum(row.n > 0 for row in _counting(report)), "annotator")
        found.append(
            f"{who} repeated {percent(consistency.identical)} of {amount(consistency.n, 'grade')} on blind "
            f"duplicates (95 % interval {ends(consistency.low, consistency.high)}).{_uninformative(report)}"
        )
    return [*found, _open_finding(report)]


def not_checked(report: AgreementReport) -> list[str]:
    """What nothing can be said about yet besides the verdict, and why, a sentence each."""
    found = []
    why = pooled_consistency(_counting(report)).why
    if why is not None:
        found.append(
            f"Not checked: consistency of annotators with themselves: {why}.{_uninformative(report)}"
        )
    few = [row.annotator for row in report.pace if not row.enough]
    if few:
        found.append(
            f"Not checked: the pace of {listed(few)}, with fewer than {FEWEST_AT_FLOOR} timed answers each."
        )
    return found


def _chosen(cursor: Cursor, annotators: Sequence[str] | None) -> list[str] | None:
    if annotators is None:
        return None
    names = sorted(set(annotators))
    if len(names) < 2:
        raise InputError(f"Agreement between annotators takes at least two; found: {', '.join(names)}.")
    require_annotators(cursor, names)
    return names


def _details(
    grades: Grades, scale: tuple[int, ...], types: Types, words: Words, seed: int, door: SealAccess
) -> Details:
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    pairs, few_shared = annotator_pairs(grades, scale, seed)
    return Details(
        by=breakdown(grades, scale, types, seed),
        annotator_pairs=pairs,
        few_shared=few_shared,
        confusion=confusion(basis, scale),
        sources=disagreement_sources(basis, grades, scale, words, door),
    )


def _round(cursor: Cursor, name: str | None) -> tuple[str | None, Guide]:
    if name is None:
        return None, current_guide(cursor)
    found = find_round(cursor, name)
    return found.round_id, guide_by_hash(cursor, found.guide_hash)


def _older_finding(older: int) -> list[str]:
    if not older:
        return []
    return [
        f"Not compared: {amount(older, 'judgment')} about an older text of their document. Agreement "
        "compares judgments of one text."
    ]


def _counting(report: AgreementReport) -> tuple[IntraAgreement, ...]:
    return tuple(row for row in report.within if row.annotator not in report.uninformative)


def _uninformative(report: AgreementReport) -> str:
    """Consistency without agreement is not consistency: it is named, and left out."""
    if not report.uninformative:
        return ""
    return (
        f" Without {', '.join(report.uninformative)}, whose grades agree with nobody's or are nearly "
        "always the same: repeating such grades shows no consistency."
    )


def _open_finding(report: AgreementReport) -> str:
    pairs = report.consensus.pairs
    if report.disputed:
        return (
            f"{report.disputed:,} of {pairs:,} judged pairs are disputed and wait for a reviewer's decision."
        )
    return f"None of the {pairs:,} judged pairs is disputed." if pairs else "No pair is judged yet."
