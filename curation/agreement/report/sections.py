"""The report in sections: heading, plain sentence, drawings and tables, alike on the page and in the app."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from markupsafe import Markup

from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS, IntraAgreement
from curation.agreement.between.annotator_pairs import AnnotatorPair
from curation.agreement.between.breakdowns import Part
from curation.agreement.between.coefficients import COEFFICIENTS
from curation.agreement.between.confusion import GradeConfusion
from curation.agreement.between.disagreement_sources import DisagreementSources, GuideLine
from curation.agreement.between.inter_annotator import AgreementFigure, AnyFigure, InterAgreement
from curation.agreement.report.findings import section_findings
from curation.agreement.report.report import AgreementReport, Details
from curation.agreement.report.verdict import RELIABLE, TENTATIVE, not_shown
from curation.reports import charts
from curation.reports.charts import HeatCell, Mark, heat_map, weeks
from curation.reports.page import Section, Table
from curation.text import amount, decimal, isolated, percent

intervals = partial(charts.intervals, references=(TENTATIVE, RELIABLE))

PAIRS = 30
"""Couples that are shown one by one: those that agree least."""
ANNOTATORS = 40
"""Annotators that are drawn one by one."""


QUERIES = "Queries with the most disagreement"
"""The section whose queries a page opens to their pairs."""


class Layers(NamedTuple):
    """The sections below the verdict: where the figure comes from, and all coefficients, which pages fold."""

    origins: list[Section]
    coefficients: list[Section]


def sections(report: AgreementReport) -> list[Section]:
    """All that a page shows of a report below its verdict, in the order in which it is read."""
    origins, coefficients = layers(report)
    return [*origins, *coefficients]


def layers(report: AgreementReport) -> Layers:
    """The sections of a report; where no pair was judged twice, there is nothing to take apart."""
    sentences, details = section_findings(report), report.details
    overall, consensus = _overall(report, sentences["level"]), _consensus(report)
    if details is None:
        return Layers([], [overall, consensus])
    cannot_tell = Section(
        "Cannot tell", sentences["cannot tell"], _judgeable(report.between), _unjudged(details.sources)
    )
    rest = [*[cannot_tell] * bool(report.between.judgeable.cannot_tell), _within(report.within), consensus]
    if not report.between.units:
        return Layers([], [overall, *rest])
    whole, by = report.between.ordinal.alpha, details.by
    weeks_there = [Section("By week", sentences["week"], _weekly(by.week))] * (len(by.week) > 1)
    origins = [
        _grades(report, details, sentences),
        _types(by.type, sentences["type"], whole),
        Section(QUERIES, sentences["query"], (), _queries(details.sources)),
        Section("Pairwise agreement", sentences["pair"], (), _annotator_pairs(details)),
        *weeks_there,
        Section("Lines of the guide", sentences["guide"], (), _guide(details.sources, report)),
    ]
    return Layers(origins, [overall, _left_out(by.annotator, sentences["annotator"], whole), *rest])


def mark(name: str, value: float | None, figure: AnyFigure, size: str = "") -> Mark:
    """A figure as a chart draws it."""
    why = not_shown(figure)
    if why:
        return Mark(name, None, None, None, why, size)
    return Mark(name, value, figure.low, figure.high, figure.no_interval or "", size)


def _overall(report: AgreementReport, sentence: str) -> Section:
    found = report.between
    figures = [(one.label, found.figures[one.name]) for one in COEFFICIENTS]
    marks = [mark(label, figure.value, figure, _pairs(figure.units)) for label, figure in figures]
    doubted = [one.label for one in COEFFICIENTS if one.name in found.doubts]
    if report.details is not None:
        cohen = report.details.cohen
        kappas = (("plain", cohen.plain), ("linear", cohen.linear), ("quadratic", cohen.quadratic))
        marks += [
            mark(f"Cohen's kappa, {name}", kappa.value, kappa, f"{kappa.units:,} shared")
            for name, kappa in kappas
        ]
    remark = (
        f"{amount(found.judgments, 'grade')} of {amount(found.annotators, 'annotator')}. Pairs with one "
        "grade only say "
        f"nothing here: {found.single:,}. Rely on Krippendorff's alpha from {RELIABLE}, conclude tentatively "
        f"from {TENTATIVE} (Krippendorff 2004). The ratio level takes grade 0 for a true zero. Cohen's kappa "
        "is a mean over the pairs of annotators that share enough."
        f"{_DOUBTED.format(', '.join(doubted)) if doubted else ''}"
        f"{f' {found.small_set}' if found.small_set else ''}"
    )
    drawn, missing = _shown(marks)
    drawings = (intervals("Agreement between annotators", drawn),) if drawn else ()
    return Section("All coefficients", sentence, drawings, (), " ".join([remark, *missing]))


def _shown(marks: Sequence[Mark]) -> tuple[list[Mark], list[str]]:
    """The marks with a figure, and of the others one sentence a reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for one in marks:
        if one.value is None:
            reasons[one.note].append(one.name)
    return [one for one in marks if one.value is not None], [
        f"No figure for {', '.join(names)}: {why}." for why, names in reasons.items()
    ]


_DOUBTED = (
    " A few queries carry most of these figures, so their intervals may hold the truth in fewer than 95 % of "
    "cases: {}."
)


def _grades(report: AgreementReport, details: Details, sentences: dict[str, str]) -> Section:
    names = [f"{value} {name}" for value, name in zip(report.scale, report.steps, strict=True)]
    drawings = (
        *_drawn("Alpha of the two sides of each boundary", details.by.boundary, None),
        *_confusion(details.confusion, names),
    )
    return Section("Grades and their boundaries", sentences["boundary"], drawings, (), sentences["confusion"])


def _confusion(table: GradeConfusion, names: Sequence[str]) -> tuple[Markup, ...]:
    """A row says what others said where one annotator said this; nothing where no grades met."""
    if not any(map(any, table.pairs)):
        return ()
    rows = [[_cell(table, names, row, column) for column in range(len(names))] for row in range(len(names))]
    return (heat_map("Which grades met", "Another annotator said", names, rows),)


def _cell(table: GradeConfusion, names: Sequence[str], row: int, column: int) -> HeatCell:
    shares, pairs = table.shares[row], table.pairs[row][column]
    share = shares[column] if shares is not None else None
    words = percent(share)
    description = (
        f"{names[row]} and {names[column]}: {amount(pairs, 'pair')} of grades; where one said "
        f"{names[row]}, {words}"
    )
    return HeatCell(share, pairs, description)


def _left_out(parts: Sequence[Part], sentence: str, whole: float | None) -> Section:
    """The annotators whose leaving changes most, where there are too many to draw."""
    shown = list(parts)
    if len(parts) > ANNOTATORS:
        shown = sorted(parts, key=lambda part: (-_change(part), part.name))[:ANNOTATORS]
    drawn = _drawn("Ordinal alpha without each", shown, whole)
    return Section("By annotator left out", sentence, drawn, (), _unshown(len(parts) - len(shown)))


def _change(part: Part) -> float:
    return abs(part.difference.value or 0.0) if part.difference is not None else 0.0


def _unshown(number: int) -> str:
    return f"{number:,} more with smaller changes are not drawn; the JSON has all." if number else ""


def _types(parts: Sequence[Part], sentence: str, whole: float | None) -> Section:
    marks = [mark(_name(part), part.alpha.alpha, part.alpha, _pairs(part.alpha.units)) for part in parts]
    shown, missing = _shown(marks)
    drawn = (intervals("Ordinal alpha by query type", shown, whole),) if shown else ()
    return Section("By query type", sentence, drawn, (), " ".join(missing))


def _drawn(title: str, parts: Sequence[Part], whole: float | None) -> tuple[Markup, ...]:
    if not parts:
        return ()
    marks = [mark(_name(part), part.alpha.alpha, part.alpha, _pairs(part.alpha.units)) for part in parts]
    if all(one.value is None for one in marks):
        return ()  # the section's sentence says so
    return (intervals(title, marks, whole),)


def _name(part: Part) -> str:
    return {"without": f"without {part.name}", "stratum": f"stratum {part.name}"}.get(part.kind, part.name)


def _weekly(parts: Sequence[Part]) -> tuple[Markup, ...]:
    if not parts:
        return ()
    series = [
        ("Ordinal alpha", [_week(part, part) for part in parts]),
        ("Same grade", [mark(part.name, part.raw.share, part.raw, _pairs(part.raw.units)) for part in parts]),
    ]
    for number, boundary in enumerate(parts[0].boundaries):
        series.append((f"Alpha, {boundary.name}", [_week(part, part.boundaries[number]) for part in parts]))
    return (weeks("Agreement by week, labelled by its Monday", series),)


def _week(week: Part, part: Part) -> Mark:
    return mark(week.name, part.alpha.alpha, part.alpha, _pairs(part.alpha.units))


def _annotator_pairs(details: Details) -> tuple[Table, ...]:
    columns = (
        "First",
        "Second",
        "Pairs",
        "Same grade",
        "Kappa",
        "Linear",
        "Quadratic",
        "95 % interval",
        "Second higher by",
    )
    ordered = sorted(
        details.cohen.annotator_pairs, key=lambda one: (one.quadratic.value or 0.0, one.first, one.second)
    )
    rows = tuple(_annotator_pair(one) for one in ordered[:PAIRS])
    unshown = len(ordered) - len(rows)
    left = "".join(f"; left out: {n:,} with {why}" for why, n in details.cohen.left_out.items())
    caption = f"Least agreement first{f', {unshown:,} more not shown' * bool(unshown)}{left}"
    return (Table(caption, columns, rows),) if rows else ()


def _annotator_pair(one: AnnotatorPair) -> tuple[object, ...]:
    kappas = (one.plain.value, one.linear.value, one.quadratic.value)
    ends = _ends(one.quadratic)
    return (one.first, one.second, one.raw.units, one.raw.value, *kappas, ends, one.difference.value)


def _queries(found: DisagreementSources) -> tuple[Table, ...]:
    columns = ("Query", "Of the disagreement", "Of the pairs", "Pairs", "With different grades")
    rows = tuple(
        (one.text, percent(one.disagreement, 1), percent(one.pairs, 1), one.units, one.disputed)
        for one in found.queries
    )
    return (
        (
            Table(
                f"{len(rows)} of {amount(found.disagreeing, 'query', 'queries')} with disagreement",
                columns,
                rows,
                words=True,
            ),
        )
        if rows
        else ()
    )


def _guide(found: DisagreementSources, report: AgreementReport) -> tuple[Table, ...]:
    names = dict(zip(report.scale, report.steps, strict=True))
    columns = ("Told apart", "Of the disagreement", "Times", "Pairs", "Decided", "What was said on them")
    rows = tuple(
        (
            f"{line.lower} {names[line.lower]} – {line.upper} {names[line.upper]}",
            percent(line.disagreement, 1),
            line.met,
            line.units,
            _decided(line),
            _said(line),
        )
        for line in found.lines
    )
    return (
        (Table("By the two grades between which opinions went apart", columns, rows, words=True),)
        if rows
        else ()
    )


def _decided(line: GuideLine) -> str:
    if not line.decided:
        return "none"
    other = line.decided - line.towards_lower - line.towards_upper
    parts = ((line.towards_lower, line.lower), (line.towards_upper, line.upper))
    words = [f"{times:,} for {grade}" for times, grade in parts] + [f"{other:,} otherwise"] * bool(other)
    return f"{line.decided:,}: {', '.join(words)}"


def _said(line: GuideLine) -> str:
    words = [
        f"{one.kind}{f' ×{one.times:,}' * (one.times > 1)}: “{isolated(one.words)}”"
        for one in line.remarks[:3]
    ]
    more = line.unshown + sum(one.times for one in line.remarks[3:])
    return "; ".join([*words, *[f"{more:,} more"] * bool(more)]) or "nothing"


def _judgeable(found: InterAgreement) -> tuple[Markup, ...]:
    judged = found.judgeable
    if not judged.cannot_tell:
        return ()
    marks = [
        mark("share of judgments", judged.share.value, judged.share, amount(judged.judgments, "judgment")),
        mark("alpha, can be judged", judged.nominal.alpha, judged.nominal, _pairs(judged.nominal.units)),
        mark("same answer", judged.raw.share, judged.raw, _pairs(judged.raw.units)),
    ]
    return (intervals("Whether a pair can be judged", marks),)


def _unjudged(found: DisagreementSources) -> tuple[Table, ...]:
    columns = ("Why", "Times", "Pairs that others graded")
    return (Table("Reasons for cannot-tell", columns, found.unjudged),) if found.unjudged else ()


def _within(people: Iterable[IntraAgreement]) -> Section:
    marks, found = [], list(people)
    for one in found[:ANNOTATORS]:
        why = one.undefined or (
            f"too few: {one.n} of at least {MINIMUM_REPEATS} repeats" if one.too_few else ""
        )
        ends = (None, None, None) if why else (one.identical, one.low, one.high)
        marks.append(Mark(one.annotator, *ends, why, f"{one.n:,} repeats"))
    drawn = (intervals("Same grade again", marks),) if marks else ()
    sentence = (
        "How often each annotator gave the same grade to a pair that came again, unmarked and far apart."
    )
    more = len(found) - len(marks)
    remark = f"{more:,} more by name are not drawn; the JSON has all." if more else ""
    return Section("Within each annotator", sentence, drawn, (), remark)


def _consensus(report: AgreementReport) -> Section:
    counts = report.consensus
    columns = ("Pairs judged", "Adjudicated", "Majority", "One judgment", "Disputed", "Unjudgeable")
    row = (
        counts.pairs,
        counts.adjudicated,
        counts.majority,
        counts.single,
        counts.disputed,
        counts.unjudgeable,
    )
    sentence = "How each pair came to its grade, and how many have none until somebody decides."
    return Section(
        "How pairs got their grades", sentence, (), (Table(f"Rule: {counts.rule}", columns, (row,)),)
    )


def _ends(figure: AgreementFigure) -> str:
    if figure.low is None or figure.high is None:
        return "–"
    return f"{decimal(figure.low)} to {decimal(figure.high)}"


def _pairs(number: int) -> str:
    return amount(number, "pair")
