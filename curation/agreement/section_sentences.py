"""The sentence of each section of the agreement report."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.breakdowns import AnnotatorPair, Part
from curation.agreement.disagreement_sources import DisagreementSources
from curation.agreement.inter_annotator import MINIMUM_UNITS, EvidenceAgreement, InterAgreement, why_not_shown
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, percent, pluralize
from curation.people.seal_access import withheld


def parts_to_show(parts: Sequence[Part]) -> list[Part]:
    """Keep the parts that have enough doubly judged pairs to show alpha."""
    return [part for part in parts if why_not_shown(part.alpha) is None]


def interval_of(figure: Estimate) -> str:
    """Write the 95 % interval of a figure, or the reason why the figure has no interval."""
    return f"95 % interval {figure.interval()}" if figure.has_interval else figure.why or "no interval"


def coefficients_sentence(result: InterAgreement) -> str:
    """State the share of equal grades, and why alpha is lower than this share."""
    raw, ac2 = result.raw, result.figures["ac2"]
    if result.ordinal.value is None and raw.value is not None:
        counts = ", ".join(
            f"grade {g}: {n:,}" for g, n in zip(result.scale, result.marginals, strict=True) if n
        )
        equal = percent(raw.value, 1)
        return f"Equal grades: {equal}. Alpha is undefined ({result.ordinal.why}; {counts})."
    if why_not_shown(raw) or raw.value is None or ac2.value is None:
        return f"Agreement between annotators has no figure: {why_not_shown(raw) or why_not_shown(ac2)}."
    return (
        f"{percent(raw.value, 1)} of {pluralize(result.pairs, 'pair')} of grades are equal "
        f"({interval_of(raw)}). Alpha corrects for the agreement that chance would give; Gwet's AC2 corrects "
        f"less where one grade is very common ({decimal(ac2.value)})."
    )


def evidence_sentence(agreement: EvidenceAgreement) -> str:
    """State how many pairs two annotators marked, and on how many pairs their marks share no character."""
    apart = (
        f"{pluralize(agreement.apart, 'pair has', 'pairs have')} marks of two people without a common "
        "character."
    )
    if agreement.apart:
        apart += " With the same grade they wait on Adjudicate, among the disputed pairs."
    return f"{pluralize(agreement.units, 'pair has', 'pairs have')} marks of two annotators or more. {apart}"


def cannot_tell_sentence(result: InterAgreement) -> str:
    """State how often annotators answered “cannot tell”, and how far annotators agree on this answer."""
    judged = result.judgeable
    if not judged.cannot_tell:
        return "Nobody answered “cannot tell”."
    alpha = judged.nominal
    how = why_not_shown(alpha) or f"alpha {decimal(alpha.value)} ({interval_of(alpha)})"
    return (
        f"“Cannot tell” was the answer {judged.cannot_tell:,} times, "
        f"{percent(judged.cannot_tell / judged.judgments, 1)} of the judgments; on "
        f"{pluralize(judged.mixed, 'pair')} another annotator gave a grade. Agreement on what can be judged: "
        f"{how}."
    )


def boundary_sentence(parts: Sequence[Part]) -> str:
    """Name the grade boundary on which annotators disagree most, or all boundaries that tie."""
    parts_shown = parts_to_show(parts)
    if not parts_shown:
        return "No boundary between two grades has enough doubly judged pairs on both sides."
    lowest = min(parts_shown, key=lambda part: part.alpha.value or 0.0).alpha
    tied = [part for part in parts_shown if decimal(part.alpha.value) == decimal(lowest.value)]
    uppers = [part.name.partition("|")[2] for part in tied]
    boundaries = ", and ".join(f"below {upper} and from {upper} on" for upper in uppers)
    extent = "most" if len(tied) < len(parts_shown) else "as much everywhere"
    each = " at each boundary" if len(tied) > 1 else ""
    return (
        f"Annotators disagree {extent} between grades {boundaries}: alpha {decimal(lowest.value)} "
        f"({interval_of(lowest)}){each}."
    )


def confusion_sentence(origins: DisagreementSources) -> str:
    """Name the two different grades that one pair got most often."""
    if not origins.lines:
        return "No two annotators gave different grades."
    often = max(origins.lines, key=lambda line: (line.met, line.disagreement))
    return (
        f"The most frequent disagreement is {often.lower} against {often.upper}: {often.met:,} times. The "
        "table is symmetric, since nobody knows the true grade: a row has the others' grades on pairs "
        "to which one annotator gave this grade."
    )


def query_type_sentence(parts: Sequence[Part], whole: Estimate) -> str:
    """Name the query type with the lowest agreement, if its interval is below the whole set."""
    parts_shown = parts_to_show(parts)
    if not parts:
        return "No query has a tag or a stratum yet."
    if not parts_shown or whole.value is None:
        return f"No query type has {MINIMUM_UNITS} doubly judged pairs with different grades."
    low = [part for part in parts_shown if part.alpha.high is not None and part.alpha.high < whole.value]
    if not low:
        if len(parts_shown) == 1:
            return (
                f"The only type, “{parts_shown[0].name}”, is not below the whole by more than its interval."
            )
        return f"None of {pluralize(len(parts_shown), 'type')} is below the whole by more than its interval."
    worst = min(low, key=lambda part: part.alpha.value or 0.0)
    return (
        f"Annotators agree least on “{worst.name}”: ordinal alpha {decimal(worst.alpha.value)} "
        f"({interval_of(worst.alpha)}) against {decimal(whole.value)} overall; {len(low)} of "
        f"{pluralize(len(parts_shown), 'type')} are below it by more than their interval."
    )


def annotator_pair_sentence(pairs: Sequence[AnnotatorPair]) -> str:
    """Name the two annotators who agree least, and the two whose mean grades differ most."""
    known = [pair for pair in pairs if pair.kappa.value is not None]
    if not known:
        return "Cohen's kappa is undefined: no two annotators share enough pairs with different grades."
    worst = min(known, key=lambda pair: pair.kappa.value or 0.0)
    apart = max(known, key=lambda pair: abs(pair.difference.value or 0.0))
    value = apart.difference.value or 0.0
    lowest = (
        f"Cohen's kappa with quadratic weights is lowest for {worst.first} and {worst.second}: "
        f"{decimal(worst.kappa.value)} ({interval_of(worst.kappa)}) on {pluralize(worst.raw.n, 'pair')}."
    )
    if not value:
        return lowest
    higher, lower = (apart.second, apart.first) if value > 0 else (apart.first, apart.second)
    difference = f"{higher} grades {abs(value):.2f} steps higher than {lower} on average"
    return f"{lowest} Largest difference in level: {difference}."


def query_sentence(origins: DisagreementSources) -> str:
    """State how few queries hold half of the disagreement."""
    if not origins.disagreeing:
        return "No query has any disagreement."
    most = pluralize(origins.half, "query holds", "queries hold")
    some = f"{origins.disagreeing:,} {'has' if origins.disagreeing == 1 else 'have'} some"
    sealed = withheld(origins.sealed, "of these queries", "of these queries")
    return (
        f"{most} half of all disagreement; {some}. A query high in this list may need a line that says what "
        f"the person behind it wants.{sealed and ' '}{sealed}"
    )


def guide_sentence(origins: DisagreementSources) -> str:
    """Name the two grades that cause most disagreement: the guide separates them least."""
    if not origins.lines:
        return "No pair has two different grades."
    most = origins.lines[0]
    decided = f"{most.decided:,} of {most.units:,} such pairs are decided"
    if most.decided:
        decided += f", {most.towards_upper:,} for {most.upper} and {most.towards_lower:,} for {most.lower}"
    return (
        f"{percent(most.disagreement)} of the disagreement is between {most.lower} and {most.upper}: look "
        f"first at the lines of the guide that distinguish these grades. {decided}."
    )
