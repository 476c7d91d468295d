"""What the sections of a report say besides the figures, a plain sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.between.annotator_pairs import AnnotatorPair, Cohen, MeanKappa
from curation.agreement.between.breakdowns import Part
from curation.agreement.between.disagreement_sources import DisagreementSources
from curation.agreement.between.evidence import EvidenceAgreement
from curation.agreement.between.inter_annotator import (
    MINIMUM_UNITS,
    AgreementFigure,
    Alpha,
    InterAgreement,
    RawAgreement,
)
from curation.agreement.between.passes import Passes
from curation.agreement.report.report import not_shown
from curation.door import withheld
from curation.text import amount, decimal, ends, percent

REMARKABLE = 0.005
"""How far too low a mean of kappas must be to be mentioned."""


def shown(parts: Sequence[Part]) -> list[Part]:
    """The parts whose alpha is a figure to show."""
    return [part for part in parts if not_shown(part.alpha) is None]


def span(figure: Alpha | RawAgreement | AgreementFigure, places: int = 3) -> str:
    """The interval in words, or why there is none."""
    if figure.low is None or figure.high is None:
        return figure.no_interval or "no interval"
    return f"95 % interval {ends(figure.low, figure.high, places)}"


def levels(result: InterAgreement) -> str:
    """The share of equal grades, and why alpha is lower."""
    raw, ac2 = result.raw, result.figures["ac2"]
    if result.ordinal.undefined and raw.share is not None:
        counts = ", ".join(
            f"grade {g}: {n:,}" for g, n in zip(result.scale, result.marginals, strict=True) if n
        )
        equal = percent(raw.share, 1)
        return f"Equal grades: {equal}. Alpha is undefined ({result.ordinal.undefined}; {counts})."
    if not_shown(raw) or raw.share is None or ac2.value is None:
        return f"Agreement between annotators has no figure: {not_shown(raw)}."
    return (
        f"{percent(raw.share, 1)} of {amount(raw.pairs, 'pair')} of grades are equal ({span(raw)}). "
        "Alpha corrects for the agreement that chance would give; Gwet's AC2 corrects less where one grade "
        f"is very common ({decimal(ac2.value)})."
    )


def passes(found: Passes) -> str:
    """What a further pass did to votes and grades."""
    ways = ("same", "higher", "lower")
    same, up, down = (sum(getattr(one, way) for one in found.people) for way in ways)
    share = f" ({percent((up + down) / (same + up + down))})" if same + up + down else ""
    return (
        f"{amount(found.pairs, 'pair was', 'pairs were')} judged before, about the same text. Of "
        f"{amount(same + up + down, 'grade')} that the same people gave again, {up + down:,} changed{share}: "
        f"{up:,} up, {down:,} down. By the votes of each pass alone, {amount(found.changes.settled, 'pair')} "
        f"got a grade, {found.changes.opened:,} lost theirs and {found.changes.regraded:,} have another."
    )


def evidence(found: EvidenceAgreement) -> str:
    """How far marks of two annotators are the same characters."""
    apart = f"{amount(found.apart, 'pair has', 'pairs have')} marks of two people without a common character."
    if found.apart:
        apart += " With the same grade they wait on Adjudicate, among the disputed pairs."
    return f"{amount(found.units, 'pair has', 'pairs have')} marks of two annotators or more. {apart}"


def cannot_tell(result: InterAgreement) -> str:
    """How often, and whether others agreed."""
    judged = result.judgeable
    if not judged.cannot_tell:
        return "Nobody said that a pair cannot be judged."
    alpha = judged.nominal
    how = not_shown(alpha) or f"alpha {decimal(alpha.alpha)} ({span(alpha)})"
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
    worst = min(found, key=lambda part: part.alpha.alpha or 0.0)
    same = [part for part in found if decimal(part.alpha.alpha) == decimal(worst.alpha.alpha)]
    uppers = [part.name.partition("|")[2] for part in same]
    where = ", and ".join(f"below {upper} and from {upper} on" for upper in uppers)
    most = "Annotators disagree most" if len(same) < len(found) else "Annotators disagree as much everywhere"
    return (
        f"{most} between grades {where}: alpha {decimal(worst.alpha.alpha)} ({span(worst.alpha)})"
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


def types(parts: Sequence[Part], whole: Alpha) -> str:
    """The type of query with least agreement, if it is clear."""
    found = shown(parts)
    if not parts:
        return "No query has a tag or a stratum yet."
    if not found or whole.alpha is None:
        return f"No type of query has {MINIMUM_UNITS} doubly judged pairs with different grades."
    low = [part for part in found if part.alpha.high is not None and part.alpha.high < whole.alpha]
    if not low:
        if len(found) == 1:
            return f"The only type, “{found[0].name}”, is not below the whole by more than its interval."
        return f"None of {amount(len(found), 'type')} is below the whole by more than its interval."
    worst = min(low, key=lambda part: part.alpha.alpha or 0.0)
    return (
        f"Annotators agree least on “{worst.name}”: ordinal alpha {decimal(worst.alpha.alpha)} "
        f"({span(worst.alpha)}) against {decimal(whole.alpha)} overall; {len(low)} of "
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
        f"{decimal(first.alpha)} in the week of {found[0].name} and {decimal(last.alpha)} in that of "
        f"{found[-1].name}"
    )
    apart = None not in (first.low, first.high, last.low, last.high) and (
        (last.low or 0.0) > (first.high or 0.0) or (last.high or 0.0) < (first.low or 0.0)
    )
    rest = "their intervals do not meet" if apart else "their intervals meet, so this may be chance"
    return f"Ordinal alpha was {ends}: {rest}.{left}"


def left_out(parts: Sequence[Part]) -> str:
    """Whose leaving would raise agreement."""
    changes = [
        (part.difference.value, part.name, part.difference)
        for part in parts
        if part.difference is not None and part.difference.value is not None and not part.difference.too_few
    ]
    if len(parts) < 3 or not changes:
        return "With fewer than three annotators nobody can be left out."
    ordered = sorted(changes, key=lambda item: (-item[0], item[1]))
    clear = [item for item in ordered if (item[2].low or 0.0) > 0]
    named = clear or [item for item in ordered[:1] if item[0] > 0]
    if not named:
        return "Leaving out no single annotator would raise agreement."
    doubt = "" if clear else "; its interval holds 0, so this may be chance"
    each = "; ".join(
        f"without {name} {decimal(value)} higher ({span(change)})" for value, name, change in named
    )
    return (
        f"Of {amount(len(changes), 'annotator')} left out one by one, ordinal alpha would be {each}{doubt}."
    )


def annotator_pairs(cohen: Cohen) -> str:
    """The mean kappa, and the two who agree least."""
    if cohen.quadratic.value is None:
        return f"Cohen's kappa is undefined: {cohen.quadratic.undefined}."
    pairs = [pair for pair in cohen.annotator_pairs if pair.quadratic.value is not None]
    worst = min(pairs, key=lambda pair: pair.quadratic.value or 0.0)
    apart = max(pairs, key=lambda pair: abs(pair.difference.value or 0.0))
    return (
        f"Cohen's kappa with quadratic weights is {decimal(cohen.quadratic.value)} on average over "
        f"{amount(len(pairs), 'pair')} ({span(cohen.quadratic)}); the lowest is "
        f"{decimal(worst.quadratic.value)}, {worst.first} and {worst.second} on "
        f"{amount(worst.raw.units, 'pair')}. {_too_low(cohen.quadratic)}{_higher(apart)}"
    )


def _too_low(mean: MeanKappa) -> str:
    if mean.too_low_by is None or mean.too_low_by < REMARKABLE:
        return ""
    return (
        f"Kappas of few shared pairs are too low, this mean by about {mean.too_low_by:.2f}; its interval "
        "allows for that. "
    )


def _higher(pair: AnnotatorPair) -> str:
    value = pair.difference.value or 0.0
    more, less = (pair.second, pair.first) if value > 0 else (pair.first, pair.second)
    return f"Largest difference in level: {more} grades {abs(value):.2f} steps higher than {less} on average."


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
