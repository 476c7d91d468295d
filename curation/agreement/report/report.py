"""The verdict: what ordinal alpha says about the labels, in a word and a sentence.

Agreement is near chance where the whole interval is below 0.2, or holds 0 and ends below what allows
tentative conclusions: then the grades may as well have been drawn. Without an interval, or with one that
holds 0 and reaches beyond that, nothing is said: of professional raters a quarter would be near chance on two
queries by the figure alone. Nobody is accused: of two people nobody can say whose the disagreement is, and it
may be the guide that is unclear.

The report fingerprint: a short text that changes whenever a figure of a report could.

What reports read is appended and never changed, so a few counts and latest times tell one state from another
without reading it; the settings, which do change, are hashed whole. It takes some milliseconds for a million
judgments, and sees what another process wrote.

The agreement report: between annotators, within each, and the consensus, with sentences for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from curation.agreement.annotators.agreement_with_others import reference_of
from curation.agreement.annotators.fast_answers import FEWEST_AT_FLOOR, AnswerPace, read_paces
from curation.agreement.annotators.intra_annotator import (
    IntraAgreement,
    intra_agreement,
    pooled_consistency,
    read_repeats,
)
from curation.agreement.between.annotator_pairs import Cohen, cohen
from curation.agreement.between.breakdowns import Breakdown, breakdown
from curation.agreement.between.disagreement_sources import (
    DisagreementSources,
    GradeConfusion,
    Words,
    confusion,
    disagreement_sources,
    read_words,
)
from curation.agreement.between.evidence import EvidenceAgreement, evidence_agreement
from curation.agreement.between.grades import (
    Grades,
    Types,
    at_boundary,
    read_grades,
    read_types,
    value_counts,
)
from curation.agreement.between.inter_annotator import (
    MINIMUM_UNITS,
    RELIABLE,
    TENTATIVE,
    AgreementFigure,
    Alpha,
    InterAgreement,
    RawAgreement,
    basis_of,
    inter_agreement,
)
from curation.agreement.between.passes import Passes, compare_passes, read_passes
from curation.door import Door, door_or_shut
from curation.errors import InputError
from curation.guides.guide import Guide, current_guide, guide_by_hash
from curation.labeling.rounds.rounds import find_round
from curation.people.annotators import require_annotators
from curation.settling.consensus import ConsensusCounts, settle_votes
from curation.settling.evidence import read_marks
from curation.settling.votes import read_votes
from curation.statistics.intervals import RESAMPLES
from curation.store import Cursor, Store, all_settings
from curation.text import amount, decimal, digest, ends, listed, percent

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


class Verdict(NamedTuple):
    """What ordinal alpha says: a state, and a sentence with the figure and what it rests on.

    `figure` is alpha as it is shown, a dash where it is not.
    """

    state: State
    sentence: str
    figure: str = "–"


def not_shown(figure: Alpha | RawAgreement | AgreementFigure) -> str | None:
    """Why a figure is not shown to people, or None when it is."""
    if figure.undefined:
        return f"undefined: {figure.undefined}"
    if figure.too_few:
        return f"too few: {figure.units} of at least {MINIMUM_UNITS} doubly judged pairs"
    return None


def near_chance(alpha: Alpha) -> bool:
    """Whether the agreement is close to that of grades drawn at random; False where that is unknown."""
    if chance_unknown(alpha) or alpha.low is None or alpha.high is None:
        return False
    return alpha.high < SLIGHT or alpha.low <= 0


def chance_unknown(alpha: Alpha) -> str | None:
    """Why nothing can be said about chance, or None where something can."""
    why = not_shown(alpha) or alpha.no_interval
    if why or alpha.low is None or alpha.high is None:
        return why or "no interval"
    if alpha.low <= 0 and alpha.high >= TENTATIVE:
        return f"the interval of ordinal alpha, {ends(alpha.low, alpha.high)}, allows chance and more"
    return None


def verdict_of(result: InterAgreement) -> Verdict:
    """The verdict on what annotators said."""
    alpha = result.ordinal
    why = not_shown(alpha)
    if why or alpha.alpha is None:
        return Verdict("no figure", f"Agreement between annotators has no figure: {why}.")
    if alpha.low is None or alpha.high is None:
        found = (
            f"Ordinal alpha is {decimal(alpha.alpha)} on {amount(alpha.units, 'pair')}; {alpha.no_interval}."
        )
        return Verdict("no interval", found, decimal(alpha.alpha))
    state, words = _judged(alpha, alpha.low, alpha.high)
    doubt = result.doubts.get("ordinal")
    return Verdict(
        state,
        f"Ordinal alpha is {decimal(alpha.alpha)} (95 % interval {ends(alpha.low, alpha.high)}) on "
        f"{amount(alpha.units, 'pair')} of {amount(result.queries, 'query', 'queries')}: {words}."
        f"{f' But {doubt}.' if doubt else ''}",
        decimal(alpha.alpha),
    )


_LOOK_FIRST = "Look first at what was graded and how fast, then at the guide"


def _judged(alpha: Alpha, low: float, high: float) -> tuple[State, str]:
    if alpha.alpha is not None and alpha.alpha < 0 and (high < 0 or not near_chance(alpha)):
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


TABLES: Mapping[str, str | None] = {
    "judgment_events": "submitted_at",
    "presentations": None,
    "withdrawals": None,
    "rounds": "opened_at",
    "round_events": "happened_at",
    "known_answers": None,
    "adjudications": "decided_at",
    "guide_questions": None,
    "queries": None,
    "query_tags": None,
    "sample_queries": None,
    "releases": None,
}
"""The tables that reports read from, and the time by which rows of one are ordered, if it has one."""


def read_fingerprint(cursor: Cursor, tables: Mapping[str, str | None] = TABLES) -> str:
    """The same text for the same state of all that agreement reports read."""
    states = []
    for table, time in tables.items():
        latest = f"max({time})" if time else "NULL"
        states.append(cursor.execute(f"SELECT count(*), {latest} FROM {table}").fetchall()[0])  # noqa: S608
    settings = (f"{name}={value}" for name, value in all_settings(cursor))
    return digest(*(str(row) for row in states), *settings)


@dataclass(frozen=True)
class Details:
    """The parts and sources of the figures between annotators.

    Attributes
    ----------
    by: agreement by query type, grade boundary, annotator left out and week.
    cohen: each two annotators, and the mean of their kappas.
    confusion: which grades were taken for which.
    sources: the queries and the lines of the guide that the disagreement comes from.
    """

    by: Breakdown
    cohen: Cohen
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
    `passes`: a round against what was judged of its pairs before, grade by grade whatever the `boundary`.
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
    passes: Passes | None = None
    evidence: EvidenceAgreement | None = None


def agreement_report(
    store: Store,
    round_name: str | None = None,
    seed: int = 0,
    details: bool = False,
    *,
    annotators: Sequence[str] | None = None,
    boundary: int | None = None,
    door: Door | None = None,
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
        again = read_passes(cursor, round_id, among=names)
        marks = read_marks(cursor)
        compared = marks.of if round_id is None else {}
    uninformative = tuple(sorted(reference_of(grades).uninformative))
    decided = settle_votes(votes)
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
        passes=compare_passes(again, guide.values, seed, door.closed),
        evidence=evidence_agreement(compared, names),
    )


def agreement_findings(report: AgreementReport) -> list[str]:
    """What could not be checked, then what the figures say, a sentence each."""
    why, verdict = not_shown(report.between.ordinal), verdict_of(report.between).sentence
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
    grades: Grades, scale: tuple[int, ...], types: Types, words: Words, seed: int, door: Door
) -> Details:
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    return Details(
        by=breakdown(grades, scale, types, seed),
        cohen=cohen(grades, scale, seed),
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
