"""The sentence that opens each section of the agreement report."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.annotator_pairs import AnnotatorPair
from curation.agreement.breakdowns import Breakdown
from curation.agreement.disagreement_sources import DisagreementSources
from curation.agreement.evidence_agreement import EvidenceAgreement
from curation.agreement.inter_annotator import MINIMUM_UNITS, InterAgreement, why_not_shown
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, percent, pluralize
from curation.people.seal_access import describe_withheld_pairs


def select_estimable(slices: Sequence[Breakdown]) -> list[Breakdown]:
    """Select the slices that have enough doubly judged pairs to show alpha."""
    return [slice_ for slice_ in slices if why_not_shown(slice_.alpha) is None]


def say_interval(figure: Estimate) -> str:
    """Write the 95 % interval of an estimate, or the reason why it has no interval."""
    return f"95 % interval {figure.interval()}" if figure.has_interval else figure.why or "no interval"


def describe_coefficients(agreement: InterAgreement) -> str:
    """State the share of equal grades, and why alpha is lower than this share."""
    raw, ac2 = agreement.raw, agreement.figures["ac2"]
    if agreement.ordinal.value is None and raw.value is not None:
        grades = zip(agreement.scale, agreement.marginals, strict=True)
        counts = ", ".join(f"grade {grade}: {count:,}" for grade, count in grades if count)
        equal = percent(raw.value, 1)
        return f"Equal grades: {equal}. Alpha has no value ({agreement.ordinal.why}; {counts})."
    if why_not_shown(raw) or raw.value is None or ac2.value is None:
        return (
            f"Agreement between annotators could not be computed: {why_not_shown(raw) or why_not_shown(ac2)}."
        )
    return (
        f"Two annotators gave equal grades in {percent(raw.value, 1)} of "
        f"{pluralize(agreement.pairs, 'comparison')} ({say_interval(raw)}). Alpha corrects for chance "
        f"agreement; Gwet's AC2 corrects less if one grade is very common ({decimal(ac2.value)})."
    )


def describe_evidence(evidence: EvidenceAgreement) -> str:
    """State how many pairs two annotators marked, and how often their marks have no character in common."""
    pairs = pluralize(evidence.apart, "pair has", "pairs have")
    disjoint = f"{pairs} evidence by two annotators that does not overlap."
    if evidence.apart:
        disjoint += " If the grades are equal, these pairs wait on the page Adjudicate."
    pairs = pluralize(evidence.units, "pair has", "pairs have")
    return f"{pairs} evidence by two or more annotators. {disjoint}"


def describe_cannot_tell(agreement: InterAgreement) -> str:
    """State how often annotators answered “cannot tell”."""
    if not agreement.cannot_tell:
        return "Nobody answered “cannot tell”."
    share = agreement.cannot_tell / (agreement.judgments + agreement.cannot_tell)
    return (
        f"Annotators answered “cannot tell” {agreement.cannot_tell:,} times, {percent(share, 1)} of the "
        "judgments."
    )


def describe_boundary(slices: Sequence[Breakdown]) -> str:
    """Name the grade boundary on which annotators disagree most, or all boundaries if they are equally
    bad."""
    estimable = select_estimable(slices)
    if not estimable:
        return "No boundary between two grades has enough doubly judged pairs on both sides."
    lowest = min(estimable, key=lambda slice_: slice_.alpha.value or 0.0).alpha
    tied = [slice_ for slice_ in estimable if decimal(slice_.alpha.value) == decimal(lowest.value)]
    uppers = [slice_.name.partition("|")[2] for slice_ in tied]
    boundaries = ", and ".join(f"below {upper} and grades of {upper} or more" for upper in uppers)
    extent = "most" if len(tied) < len(estimable) else "equally"
    each = " at each boundary" if len(tied) > 1 else ""
    return (
        f"Annotators disagree {extent} about the boundary between grades {boundaries}: alpha "
        f"{decimal(lowest.value)} ({say_interval(lowest)}){each}."
    )


def describe_confusion(sources: DisagreementSources) -> str:
    """Name the two different grades that were most often given to the same pair."""
    if not sources.lines:
        return "No two annotators gave different grades."
    line = max(sources.lines, key=lambda item: (item.met, item.disagreement))
    return (
        f"The most frequent disagreement is grade {line.lower} against grade {line.upper}: {line.met:,} "
        "times. The table is symmetric, because the true grade is unknown. A row shows how other "
        "annotators graded the pairs to which one annotator gave the row's grade."
    )


def describe_query_type(slices: Sequence[Breakdown], overall: Estimate) -> str:
    """Name the query type with the lowest agreement, if this type's whole interval lies below the agreement
    on all pairs."""
    estimable = select_estimable(slices)
    if not slices:
        return "No query has a tag or a stratum yet."
    if not estimable or overall.value is None:
        return f"No query type has {MINIMUM_UNITS} doubly judged pairs with different grades."
    low = [row for row in estimable if row.alpha.high is not None and row.alpha.high < overall.value]
    if not low:
        if len(estimable) == 1:
            return f"The only type, “{estimable[0].name}”, is not clearly below the overall agreement."
        return (
            f"None of {pluralize(len(estimable), 'type')} is below the overall agreement by more than its "
            "interval."
        )
    worst = min(low, key=lambda slice_: slice_.alpha.value or 0.0)
    return (
        f"Annotators agree least on “{worst.name}”: ordinal alpha {decimal(worst.alpha.value)} "
        f"({say_interval(worst.alpha)}) against {decimal(overall.value)} overall; {len(low)} of "
        f"{pluralize(len(estimable), 'type')} are below the overall alpha by more than their interval."
    )


def describe_annotators(pairs: Sequence[AnnotatorPair]) -> str:
    """Name the two annotators who agree least, and the two whose mean grades differ most."""
    defined = [pair for pair in pairs if pair.kappa.value is not None]
    if not defined:
        return "Cohen's kappa is undefined: no two annotators share enough pairs with different grades."
    worst = min(defined, key=lambda pair: pair.kappa.value or 0.0)
    farthest = max(defined, key=lambda pair: abs(pair.difference.value or 0.0))
    value = farthest.difference.value or 0.0
    lowest = (
        f"Cohen's kappa with quadratic weights is lowest for {worst.first} and {worst.second}: "
        f"{decimal(worst.kappa.value)} ({say_interval(worst.kappa)}) on {pluralize(worst.raw.n, 'pair')}."
    )
    if not value:
        return lowest
    higher, lower = (farthest.second, farthest.first) if value > 0 else (farthest.first, farthest.second)
    difference = f"{higher} grades {abs(value):.2f} steps higher than {lower} on average"
    return f"{lowest} The mean grades of two annotators differ most: {difference}."


def describe_queries(sources: DisagreementSources) -> str:
    """State how few queries cause half the disagreement."""
    if not sources.disagreeing:
        return "No query has any disagreement."
    fewest = pluralize(sources.half, "query causes", "queries cause")
    disagreeing = f"{sources.disagreeing:,} {'has' if sources.disagreeing == 1 else 'have'} some"
    sealed = describe_withheld_pairs(sources.sealed, "of these queries", "of these queries")
    return (
        f"{fewest} half of all disagreement; {disagreeing}. A query at the top of this list may need a "
        f"line that states what its user wants.{sealed and ' '}{sealed}"
    )


def describe_guide(sources: DisagreementSources) -> str:
    """Name the two grades that cause the most disagreement, because the guide separates them least."""
    if not sources.lines:
        return "No pair has two different grades."
    top = sources.lines[0]
    decided = f"{top.decided:,} of {top.units:,} such pairs are decided"
    if top.decided:
        decided += f", {top.towards_upper:,} for {top.upper} and {top.towards_lower:,} for {top.lower}"
    return (
        f"{percent(top.disagreement)} of the disagreement is between {top.lower} and {top.upper}: first "
        f"look at the lines of the guide that distinguish these grades. {decided}."
    )
