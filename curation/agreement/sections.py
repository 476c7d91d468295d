"""The report in sections: heading, plain sentence, drawings and tables, alike on the page and in the app."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from curation.agreement.between import LEVELS, Alpha, Between, Figure, RawAgreement
from curation.agreement.breakdowns import Part
from curation.agreement.chart import Mark, heat, intervals, weeks
from curation.agreement.couples import Couple
from curation.agreement.findings import section_findings
from curation.agreement.origins import Line, Origins
from curation.agreement.report import RELIABLE, TENTATIVE, AgreementReport, Details, not_shown
from curation.agreement.within import MINIMUM_REPEATS, Within
from curation.text import isolated

COUPLES = 30
"""Couples that are shown one by one: those that agree least."""
ANNOTATORS = 40
"""Annotators that are drawn one by one."""


@dataclass(frozen=True)
class Table:
    """A table for people: None is unknown; `words` says that cells hold sentences."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    words: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page; `drawings` are SVG."""

    heading: str
    sentence: str
    drawings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    remark: str = ""


def sections(report: AgreementReport) -> list[Section]:
    """All that a page shows of a report, in the order in which it is read."""
    told = section_findings(report)
    found = [_overall(report, told["level"]), _standing(report)]
    if report.details is None:
        return found
    details, whole = report.details, report.between.ordinal.alpha
    by = details.by
    return [
        found[0],
        _grades(report, details, told),
        Section("By query type", told["type"], _drawn("Ordinal alpha by query type", by.type, whole)),
        Section("By week", told["week"], _weekly(by.week)),
        _left_out(by.annotator, told["annotator"], whole),
        Section("Each two annotators", told["pair"], (), _couples(details)),
        Section("Queries with the most disagreement", told["query"], (), _queries(details.origins)),
        Section("Lines of the guide", told["guide"], (), _guide(details.origins, report)),
        Section("Cannot tell", told["cannot tell"], _judgeable(report.between), _unjudged(details.origins)),
        _within(report.within),
        found[1],
    ]


def mark(name: str, value: float | None, figure: Alpha | RawAgreement | Figure, size: str = "") -> Mark:
    """A figure as a chart draws it."""
    why = not_shown(figure)
    if why:
        return Mark(name, None, None, None, why, size)
    return Mark(name, value, figure.low, figure.high, figure.no_interval or "", size)


def _overall(report: AgreementReport, sentence: str) -> Section:
    found = report.between
    alphas = [(f"alpha, {level}", getattr(found, level)) for level in LEVELS]
    rest = [
        ("Fleiss' kappa", found.fleiss),
        ("Gwet's AC1", found.ac1),
        ("Gwet's AC2, quadratic", found.ac2),
        ("Gwet's AC2, ordinal", found.ac2_ordinal),
    ]
    marks = [mark(name, alpha.alpha, alpha, _pairs(alpha.units)) for name, alpha in alphas]
    marks += [mark(name, figure.value, figure, _pairs(figure.units)) for name, figure in rest]
    if report.details is not None:
        cohen = report.details.cohen
        kappas = (("plain", cohen.plain), ("linear", cohen.linear), ("quadratic", cohen.quadratic))
        marks += [
            mark(f"Cohen's kappa, {name}", kappa.value, kappa, f"{kappa.units:,} shared")
            for name, kappa in kappas
        ]
    marks.append(mark("same grade", found.raw.share, found.raw, _pairs(found.raw.units)))
    remark = (
        f"{found.judgments:,} grades of {found.annotators:,} annotators. Pairs with one grade only say "
        f"nothing here: {found.single:,}. Rely on Krippendorff's alpha from {RELIABLE}, conclude tentatively "
        f"from {TENTATIVE} (Krippendorff 2004). The ratio level takes grade 0 for a true zero. Cohen's kappa "
        "is a mean over each two annotators that share enough pairs."
    )
    return Section(
        "Between annotators", sentence, (intervals("Agreement between annotators", marks),), (), remark
    )


def _grades(report: AgreementReport, details: Details, told: dict[str, str]) -> Section:
    names = [f"{value} {name}" for value, name in zip(report.scale, report.steps, strict=True)]
    drawings = (
        *_drawn("Alpha of the two sides of each boundary", details.by.boundary, None),
        heat("Which grades met", details.confusion, names),
    )
    return Section("Grades and their boundaries", told["boundary"], drawings, (), told["confusion"])


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


def _drawn(title: str, parts: Sequence[Part], whole: float | None) -> tuple[str, ...]:
    if not parts:
        return ()
    marks = [mark(_name(part), part.alpha.alpha, part.alpha, _pairs(part.alpha.units)) for part in parts]
    return (intervals(title, marks, whole),)


def _name(part: Part) -> str:
    return {"without": f"without {part.name}", "stratum": f"stratum {part.name}"}.get(part.kind, part.name)


def _weekly(parts: Sequence[Part]) -> tuple[str, ...]:
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


def _couples(details: Details) -> tuple[Table, ...]:
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
        details.cohen.couples, key=lambda one: (one.quadratic.value or 0.0, one.first, one.second)
    )
    rows = tuple(_couple(one) for one in ordered[:COUPLES])
    unshown = len(ordered) - len(rows)
    left = "".join(f"; left out: {n:,} with {why}" for why, n in details.cohen.left_out.items())
    caption = f"Least agreement first{f', {unshown:,} more not shown' * bool(unshown)}{left}"
    return (Table(caption, columns, rows),) if rows else ()


def _couple(one: Couple) -> tuple[object, ...]:
    kappas = (one.plain.value, one.linear.value, one.quadratic.value)
    ends = _ends(one.quadratic)
    return (one.first, one.second, one.raw.units, one.raw.value, *kappas, ends, one.difference.value)


def _queries(found: Origins) -> tuple[Table, ...]:
    columns = ("Query", "Of the disagreement", "Of the pairs", "Pairs", "With different grades")
    rows = tuple(
        (one.text, f"{one.disagreement:.1%}", f"{one.pairs:.1%}", one.units, one.disputed)
        for one in found.queries
    )
    return (
        (Table(f"{len(rows)} of {found.disagreeing:,} queries with disagreement", columns, rows),)
        if rows
        else ()
    )


def _guide(found: Origins, report: AgreementReport) -> tuple[Table, ...]:
    names = dict(zip(report.scale, report.steps, strict=True))
    columns = ("Told apart", "Of the disagreement", "Times", "Pairs", "Decided", "What was said on them")
    rows = tuple(
        (
            f"{line.lower} {names[line.lower]} – {line.upper} {names[line.upper]}",
            f"{line.disagreement:.1%}",
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


def _decided(line: Line) -> str:
    if not line.decided:
        return "none"
    other = line.decided - line.towards_lower - line.towards_upper
    parts = ((line.towards_lower, line.lower), (line.towards_upper, line.upper))
    words = [f"{times:,} for {grade}" for times, grade in parts] + [f"{other:,} otherwise"] * bool(other)
    return f"{line.decided:,}: {', '.join(words)}"


def _said(line: Line) -> str:
    words = [
        f"{one.kind}{f' ×{one.times:,}' * (one.times > 1)}: “{isolated(one.words)}”"
        for one in line.remarks[:3]
    ]
    more = line.unshown + sum(one.times for one in line.remarks[3:])
    return "; ".join([*words, *[f"{more:,} more"] * bool(more)]) or "nothing"


def _judgeable(found: Between) -> tuple[str, ...]:
    judged = found.judgeable
    if not judged.cannot_tell:
        return ()
    marks = [
        mark("share of judgments", judged.share.value, judged.share, f"{judged.judgments:,} judgments"),
        mark("alpha, can be judged", judged.nominal.alpha, judged.nominal, _pairs(judged.nominal.units)),
        mark("same answer", judged.raw.share, judged.raw, _pairs(judged.raw.units)),
    ]
    return (intervals("Whether a pair can be judged", marks),)


def _unjudged(found: Origins) -> tuple[Table, ...]:
    columns = ("Why", "Times", "Pairs that others graded")
    return (Table("Reasons for cannot-tell", columns, found.unjudged),) if found.unjudged else ()


def _within(people: Iterable[Within]) -> Section:
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


def _standing(report: AgreementReport) -> Section:
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
    return Section("Where the pairs stand", sentence, (), (Table(f"Rule: {counts.rule}", columns, (row,)),))


def _ends(figure: Figure) -> str:
    return "–" if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"


def _pairs(number: int) -> str:
    return f"{number:,} pairs"
