"""The agreement report: its figures, the verdict on ordinal alpha, and its findings as sentences.

The verdict is near chance if the whole interval of alpha is below 0.2, or if the interval contains 0 and ends
below the level for tentative conclusions. Grades drawn at random could give such an interval. There is no
verdict
on chance without an interval, or if the interval contains 0 and ends above that level: on two queries, a
quarter of professional raters would have a figure near chance. The verdict accuses nobody, because two
annotators cannot show who causes the disagreement, and the guide may be unclear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from curation.agreement.agreement_with_others import uninformative_of
from curation.agreement.bias import Decisions, read_decisions
from curation.agreement.breakdowns import AnnotatorPair, Part, annotator_pairs, breakdown
from curation.agreement.disagreement_sources import (
    DisagreementSources,
    GradeConfusion,
    confusion,
    disagreement_sources,
    query_texts,
)
from curation.agreement.fast_answers import MIN_AT_FLOOR, AnswerPace, read_paces
from curation.agreement.grades import Grades, QueryTypes, read_grades, read_types, value_counts
from curation.agreement.inter_annotator import (
    RELIABLE,
    TENTATIVE,
    EvidenceAgreement,
    InterAgreement,
    basis_of,
    evidence_agreement,
    inter_agreement,
    why_not_shown,
)
from curation.agreement.intra_annotator import (
    IntraAgreement,
    intra_agreement,
    pooled_consistency,
    read_repeats,
)
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import RESAMPLES
from curation.core.text import decimal, interval_text, join_words, percent, pluralize
from curation.guides.guide import Guide, current_guide, load_guide
from curation.labeling.consensus.consensus import ConsensusCounts, compute_consensus
from curation.labeling.consensus.marks import read_marks
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds.rounds import find_round
from curation.people.seal_access import SealAccess, access_or_closed
from curation.store import Cursor, Store

SLIGHT = 0.2
"""Landis and Koch (1977), Biometrics 33: agreement up to 0.20 is slight."""
State = Literal[
    "reliable",
    "tentative",
    "undecided",
    "too low",
    "near chance",
    "worse than chance",
    "no interval",
    "no figure",
]
_LOOK_FIRST = "Look first at what was graded and how fast, then at the guide"


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

    types: tuple[Part, ...]
    boundaries: tuple[Part, ...]
    annotator_pairs: tuple[AnnotatorPair, ...]
    few_shared: int
    confusion: GradeConfusion
    sources: DisagreementSources


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


def agreement_report(
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
        round_id, guide = _round(cursor, round_name)
        access, grades = access_or_closed(cursor, access), read_grades(cursor, round_id)
        within = tuple(map(intra_agreement, read_repeats(cursor, round_id)))
        votes, pace = read_votes(cursor, round_id), read_paces(cursor, round_id)
        asides = (read_types(cursor), query_texts(cursor), read_decisions(cursor)) if details else None
        marks = read_marks(cursor)
        compared = marks.of if round_id is None else {}
    uninformative = tuple(sorted(uninformative_of(grades)))
    decided = compute_consensus(votes)
    scale, steps = guide.values, tuple(step.name for step in guide.scale)
    return AgreementReport(
        round_name=round_name,
        seed=seed,
        resamples=RESAMPLES,
        scale=scale,
        steps=steps,
        between=inter_agreement(grades, scale, seed),
        within=within,
        consensus=decided.counts,
        disputed=sum(map(marks.is_disputed, decided)),
        details=_details(grades, scale, *asides, seed, access) if asides else None,
        uninformative=uninformative,
        pace=pace,
        evidence=evidence_agreement(compared),
    )


def agreement_findings(report: AgreementReport) -> list[str]:
    """List the checks that could not be made, then the findings, one sentence each."""
    why, verdict = why_not_shown(report.between.ordinal), verdict_of(report.between).sentence
    first = [f"Not checked: agreement between annotators is not known, {why}."] if why else []
    return [*first, *not_checked(report), *[verdict] * (not why), *other_findings(report)]


def other_findings(report: AgreementReport) -> list[str]:
    """List the findings besides the verdict, one sentence each."""
    sentences = [row.sentence for row in report.pace if row.unread]
    sentences += _older_finding(report.between.older)
    consistency = pooled_consistency(_counting(report))
    if consistency.why is None:
        who = pluralize(sum(row.n > 0 for row in _counting(report)), "annotator")
        sentences.append(
            f"{who} repeated {percent(consistency.identical)} of {pluralize(consistency.n, 'grade')} on "
            "blind duplicates (95 % interval "
            f"{interval_text(consistency.low, consistency.high)}).{_uninformative(report)}"
        )
    return [*sentences, _open_finding(report)]


def not_checked(report: AgreementReport) -> list[str]:
    """List the checks that could not be made besides the verdict, with reasons, one sentence each."""
    sentences = []
    why = pooled_consistency(_counting(report)).why
    if why is not None:
        sentences.append(
            f"Not checked: consistency of annotators with themselves: {why}.{_uninformative(report)}"
        )
    few = [row.annotator for row in report.pace if not row.enough]
    if few:
        sentences.append(
            f"Not checked: the pace of {join_words(few)}, with fewer than {MIN_AT_FLOOR} timed answers each."
        )
    return sentences


def _details(
    grades: Grades,
    scale: tuple[int, ...],
    types: QueryTypes,
    texts: Mapping[str, str],
    decisions: Decisions,
    seed: int,
    access: SealAccess,
) -> Details:
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    pairs, few_shared = annotator_pairs(grades, scale, seed)
    by_type, boundaries = breakdown(grades, scale, types, seed)
    return Details(
        types=by_type,
        boundaries=boundaries,
        annotator_pairs=pairs,
        few_shared=few_shared,
        confusion=confusion(basis, scale),
        sources=disagreement_sources(basis, grades, scale, texts, decisions, access),
    )


def _round(cursor: Cursor, name: str | None) -> tuple[str | None, Guide]:
    if name is None:
        return None, current_guide(cursor)
    round_row = find_round(cursor, name)
    return round_row.round_id, load_guide(cursor, round_row.guide_hash)


def _older_finding(older: int) -> list[str]:
    if not older:
        return []
    return [
        f"Not compared: {pluralize(older, 'judgment')} about an older text of their document. Agreement "
        "compares only judgments of the same text."
    ]


def _counting(report: AgreementReport) -> tuple[IntraAgreement, ...]:
    return tuple(row for row in report.within if row.annotator not in report.uninformative)


def _uninformative(report: AgreementReport) -> str:
    """Name the annotators who are left out of consistency because their grades agree with nobody's."""
    if not report.uninformative:
        return ""
    return (
        f" This leaves out {', '.join(report.uninformative)}, whose grades agree with nobody's or are nearly "
        "always the same: repeating such grades shows no consistency."
    )


def _open_finding(report: AgreementReport) -> str:
    pairs = report.consensus.pairs
    if report.disputed:
        return (
            f"{report.disputed:,} of {pairs:,} judged pairs are disputed and wait for a reviewer's decision."
        )
    return f"None of the {pairs:,} judged pairs is disputed." if pairs else "No pair is judged yet."


class Verdict(NamedTuple):
    """The verdict on ordinal alpha: a state, and a sentence with alpha and the number of pairs.

    `figure` is alpha as shown to people, or a dash.
    """

    state: State
    sentence: str
    figure: str = "–"


def near_chance(alpha: Estimate) -> bool:
    """True if random grades would agree about as well; False if this is unknown."""
    if chance_unknown(alpha) or alpha.low is None or alpha.high is None:
        return False
    return alpha.high < SLIGHT or alpha.low <= 0


def chance_unknown(alpha: Estimate) -> str | None:
    """Return the reason why alpha cannot be compared with chance; None if a comparison is possible."""
    why = why_not_shown(alpha) or alpha.why
    if why or alpha.low is None or alpha.high is None:
        return why or "no interval"
    if alpha.low <= 0 and alpha.high >= TENTATIVE:
        return (
            f"the interval of ordinal alpha, {interval_text(alpha.low, alpha.high)}, allows chance and more"
        )
    return None


def verdict_of(result: InterAgreement) -> Verdict:
    """Make the verdict on ordinal alpha."""
    alpha = result.ordinal
    why = why_not_shown(alpha)
    if why or alpha.value is None:
        return Verdict("no figure", f"Agreement between annotators has no figure: {why}.")
    if alpha.low is None or alpha.high is None:
        sentence = f"Ordinal alpha is {decimal(alpha.value)} on {pluralize(alpha.n, 'pair')}; {alpha.why}."
        return Verdict("no interval", sentence, decimal(alpha.value))
    state, words = _judged(alpha, alpha.low, alpha.high)
    return Verdict(
        state,
        f"Ordinal alpha is {decimal(alpha.value)} (95 % interval {interval_text(alpha.low, alpha.high)}) on "
        f"{pluralize(alpha.n, 'pair')} of {pluralize(result.queries, 'query', 'queries')}: {words}.",
        decimal(alpha.value),
    )


def _judged(alpha: Estimate, low: float, high: float) -> tuple[State, str]:
    if alpha.value is not None and alpha.value < 0 and (high < 0 or not near_chance(alpha)):
        reach = ", though the interval reaches above 0" if high > 0 else ""
        return "worse than chance", f"grades drawn at random would agree better{reach}. {_LOOK_FIRST}"
    if near_chance(alpha):
        how = "grades drawn at random would agree about as well" if low <= 0 else "agreement is slight"
        return "near chance", f"near chance, {how}. {_LOOK_FIRST}"
    if low >= RELIABLE:
        return "reliable", f"reliable, the whole interval is above {RELIABLE}"
    if low >= TENTATIVE:
        return "tentative", f"good enough for tentative conclusions, the interval begins above {TENTATIVE}"
    if high < TENTATIVE:
        words = f"too low to rely on, the whole interval is below {TENTATIVE}; look at the guide first"
        return "too low", words
    if low <= 0:
        return "undecided", "undecided, grades drawn at random could give this; more doubly judged pairs help"
    words = f"undecided, the interval reaches below {TENTATIVE}; more doubly judged pairs would narrow it"
    return "undecided", words
