"""What the sections of a report say besides the figures, a plain sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.between.annotator_pairs import AnnotatorPair
from curation.agreement.between.breakdowns import Part
from curation.agreement.between.disagreement_sources import DisagreementSources
from curation.agreement.between.evidence import EvidenceAgreement
from curation.agreement.between.inter_annotator import MINIMUM_UNITS, AgreementFigure, InterAgreement
from curation.core.text import amount, decimal, ends, percent
from curation.people.seal_access import withheld


def shown(parts: Sequence[Part]) -> list[Part]:
    """The parts whose alpha is a figure to show."""
    return [part for part in parts if part.alpha.not_shown is None]


def span(figure: AgreementFigure, places: int = 3) -> str:
    """The interval in words, or the reason why the figure has no interval."""
    if figure.low is None or figure.high is None:
        return figure.no_interval or "no interval"
    return f"95 % interval {ends(figure.low, figure.high, places)}"


def levels(result: InterAgreement) -> str:
    """The share of equal grades, and why alpha is lower."""
    raw, ac2 = result.raw, result.figures["ac2"]
    if result.ordinal.undefined and raw.value is not None:
        counts = ", ".join(
            f"grade {g}: {n:,}" for g, n in zip(result.scale, result.marginals, strict=True) if n
        )
        equal = percent(raw.value, 1)
        return f"Equal grades: {equal}. Alpha is undefined ({result.ordinal.undefined}; {counts})."
    if raw.not_shown or raw.value is None or ac2.value is None:
        return f"Agreement between annotators has no figure: {raw.not_shown}."
    return (
        f"{percent(raw.value, 1)} of {amount(raw.pairs, 'pair')} of grades are equal ({span(raw)}). "
        "Alpha corrects for the agreement that chance would give; Gwet's AC2 corrects less where one grade "
        f"is very common ({decimal(ac2.value)})."
    )


def evidence(agreement: EvidenceAgreement) -> str:
    """How far marks of two annotators are the same characters."""
    apart = (
        f"{amount(agreement.apart, 'pair has', 'pairs have')} marks of two people without a common character."
    )
    if agreement.apart:
        apart += " With the same grade they wait on Adjudicate, among the disputed pairs."
    return f"{amount(agreement.units, 'pair has', 'pairs have')} marks of two annotators or more. {apart}"


def cannot_tell(result: InterAgreement) -> str:
    """How often, and whether others agreed."""
    judged = result.judgeable
    if not judged.cannot_tell:
        return "Nobody said that a pair cannot be judged."
    alpha = judged.nominal
    how = alpha.not_shown or f"alpha {decimal(alpha.value)} ({span(alpha)})"
    return (
        f"“Cannot tell” was said {judged.cannot_tell:,} times, "
        f"{percent(judged.cannot_tell / judged.judgments, 1)} of the judgments; on "
        f"{amount(judged.mixed, 'pair')} somebody else gave a grade. Agreement on what can be judged: {how}."
    )


def boundaries(parts: Sequence[Part]) -> str:
    """The boundary, or those that tie, on which annotators disagree most."""
    found = shown(parts)
    if not found:
        return "No boundary has enough doubly judged pairs on both sides."
    worst = min(found, key=lambda part: part.alpha.value or 0.0)
    same = [part for part in found if decimal(part.alpha.value) == decimal(worst.alpha.value)]
    uppers = [part.name.partition("|")[2] for part in same]
    where = ", and ".join(f"below {upper} and from {upper} on" for upper in uppers)
    most = "Annotators disagree most" if len(same) < len(found) else "Annotators disagree as much everywhere"
    return (
        f"{most} between grades {where}: alpha {decimal(worst.alpha.value)} ({span(worst.alpha)})"
        f"{' at each boundary' if len(same) > 1 else ''}."
    )


def confusion(origins: DisagreementSources) -> str:
    """The two grades that met most often."""
    if not origins.lines:
        return "No two annotators gave different grades."
    often = max(origins.lines, key=lambda line: (line.met, line.disagreement))
    return (
        f"The most frequent disagreement is {often.lower} against {often.upper}: {often.met:,} times. The "
        "table is symmetric, since nobody knows the true grade: a row has what others said where somebody "
        "gave this grade."
    )


def types(parts: Sequence[Part], whole: AgreementFigure) -> str:
    """The type of query with least agreement, if it is clear."""
    found = shown(parts)
    if not parts:
        return "No query has a tag or a stratum yet."
    if not found or whole.value is None:
        return f"No type of query has {MINIMUM_UNITS} doubly judged pairs with different grades."
    low = [part for part in found if part.alpha.high is not None and part.alpha.high < whole.value]
    if not low:
        if len(found) == 1:
            return f"The only type, “{found[0].name}”, is not below the whole by more than its interval."
        return f"None of {amount(len(found), 'type')} is below the whole by more than its interval."
    worst = min(low, key=lambda part: part.alpha.value or 0.0)
    return (
        f"Annotators agree least on “{worst.name}”: ordinal alpha {decimal(worst.alpha.value)} "
        f"({span(worst.alpha)}) against {decimal(whole.value)} overall; {len(low)} of "
        f"{amount(len(found), 'type')} are below it by more than their interval."
    )


def weeks(parts: Sequence[Part], untimed: int) -> str:
    """The first week against the last one."""
    found = shown(parts)
    left = (
        f" {amount(untimed, 'pair is in no week: it was', 'pairs are in no week: they were')} imported "
        "without times."
        if untimed
        else ""
    )
    if len(found) < 2:
        return f"There are not yet two weeks with enough doubly judged pairs to compare.{left}"
    first, last = found[0].alpha, found[-1].alpha
    ends = (
        f"{decimal(first.value)} in the week of {found[0].name} and {decimal(last.value)} in that of "
        f"{found[-1].name}"
    )
    apart = None not in (first.low, first.high, last.low, last.high) and (
        (last.low or 0.0) > (first.high or 0.0) or (last.high or 0.0) < (first.low or 0.0)
    )
    rest = "their intervals do not meet" if apart else "their intervals meet, so this may be chance"
    return f"Ordinal alpha was {ends}: {rest}.{left}"


def annotator_pairs(pairs: Sequence[AnnotatorPair]) -> str:
    """The two who agree least, and the two whose levels differ most."""
    known = [pair for pair in pairs if pair.kappa.value is not None]
    if not known:
        return "Cohen's kappa is undefined: no two annotators share enough pairs with different grades."
    worst = min(known, key=lambda pair: pair.kappa.value or 0.0)
    apart = max(known, key=lambda pair: abs(pair.difference.value or 0.0))
    value = apart.difference.value or 0.0
    more, less = (apart.second, apart.first) if value > 0 else (apart.first, apart.second)
    return (
        f"Cohen's kappa with quadratic weights is lowest for {worst.first} and {worst.second}: "
        f"{decimal(worst.kappa.value)} ({span(worst.kappa)}) on {amount(worst.raw.units, 'pair')}. Largest "
        f"difference in level: {more} grades {abs(value):.2f} steps higher than {less} on average."
    )


def queries(origins: DisagreementSources) -> str:
    """How few queries hold half of the disagreement."""
    if not origins.disagreeing:
        return "No query has any disagreement."
    most = amount(origins.half, "query holds", "queries hold")
    some = f"{origins.disagreeing:,} {'has' if origins.disagreeing == 1 else 'have'} some"
    sealed = withheld(origins.sealed, "of these queries", "of these queries")
    return (
        f"{most} half of all disagreement; {some}. A query high in this list may need a line that says what "
        f"the person behind it wants.{sealed and ' '}{sealed}"
    )


def guide(origins: DisagreementSources) -> str:
    """The two grades that the guide tells apart least."""
    if not origins.lines:
        return "No pair has two different grades."
    most = origins.lines[0]
    decided = f"{most.decided:,} of {most.units:,} such pairs are decided"
    if most.decided:
        decided += f", {most.towards_upper:,} for {most.upper} and {most.towards_lower:,} for {most.lower}"
    return (
        f"{percent(most.disagreement)} of the disagreement is between {most.lower} and {most.upper}: look "
        f"first at the lines of the guide that tell these two apart. {decided}."
    )
