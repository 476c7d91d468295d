"""Report, comparison of systems: the leaderboard and the differences, overall and by kind of query."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.core.reports.charts import Mark
from curation.core.reports.page import Section, Table
from curation.core.reports.plots import DotRow, dot_plot
from curation.core.text import amount, p_cell
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import interval
from curation.evaluation.scoring.inputs.run_chunks import said_of_texts
from curation.evaluation.scoring.metrics.measures import measures_named
from curation.evaluation.significance import HOLM_COLUMN, TESTS, what_decides

MOST_ROWS = 30
"""Differences that are drawn; the tables have all."""


def write_comparison(evaluation: Evaluation) -> list[Section]:
    if not evaluation.comparisons:
        return []
    measure = evaluation.comparisons[0].measure
    own = [comparison for comparison in evaluation.comparisons if comparison.measure == measure]
    overall = [one for one in own if one.stratum is None]
    strata = [one for one in own if one.stratum is not None and one.no_verdict is None]
    sections = [_overall(evaluation, measure, overall)]
    if strata:
        sections.append(_strata(measure, strata))
    return sections


def _overall(evaluation: Evaluation, measure: str, compared: Sequence[Comparison]) -> Section:
    deciding = compared[0].deciding
    differences = _differences(f"{measure}: differences", compared)
    tables = [differences, _reach(compared), *every_test(measure, compared)]
    if board := evaluation.leaderboards.get(measure):
        rows = tuple(
            (row.system, row.value, row.letters, f"{row.best_rank}–{row.worst_rank}", row.better_than)
            for row in board
        )
        columns = ("system", measure, "group", "possible ranks", "better than")
        tables.insert(0, Table("Systems with a common letter cannot be distinguished", columns, rows))
    sentence = (
        f"Differences are of the same queries. {about_p(deciding, len(compared))} “Detects” is the "
        "difference that as many such queries find in 80 % of sets."
    )
    if measures_named([measure])[0].of_chunks and (unsure := said_of_texts(_by_text(evaluation))):
        sentence += f"\n{unsure}"
    note = "A small p says that a difference is more than noise. The interval says how large it may be."
    return Section(
        "Comparison", sentence, _drawings(f"{measure}: differences", compared), tuple(tables), note
    )


def _by_text(evaluation: Evaluation) -> dict[str, bool]:
    """System → whether it has chunks by texts that their documents have several times."""
    return {
        run.name: any(facts.chunks and facts.chunks.twice for facts in run.files) for run in evaluation.runs
    }


def _strata(measure: str, compared: Sequence[Comparison]) -> Section:
    tested, apart = len(compared), [one for one in compared if one.distinguished]
    sentence = (
        f"{tested:,} comparisons of {measure} were tested together; in {len(apart):,} of them the systems "
        "can be distinguished."
    )
    title = f"{measure}: differences by kind of query"
    drawn = apart if len(compared) > MOST_ROWS else compared
    return Section(
        "Comparison by kind of query", sentence, _drawings(title, drawn), (_differences(title, compared),)
    )


def _drawings(title: str, compared: Sequence[Comparison]) -> tuple[Markup, ...]:
    rows = [
        DotRow(_pair(one), "", [Mark("", one.difference, one.low, one.high)])
        for one in compared[:MOST_ROWS]
        if one.difference is not None
    ]
    return (dot_plot(title, [""], rows, line=0.0),) if rows else ()


def _pair(comparison: Comparison) -> str:
    stratum = "" if comparison.stratum is None else f", {comparison.stratum.value}"
    return f"{comparison.system} − {comparison.other}{stratum}"


def _differences(caption: str, compared: Sequence[Comparison]) -> Table:
    deciding = compared[0].deciding
    columns = ("systems", "difference", "95 %", "p", HOLM_COLUMN, "queries", "note")
    rows = tuple(
        (_pair(one), one.difference, interval(one), p_cell(one.p), p_cell(one.p_corrected), one.n, one.note)
        for one in compared
    )
    return Table(f"{caption}; {what_decides(deciding)}", columns, rows)


def about_p(deciding: str, pairs: int) -> str:
    """What p is, in a sentence."""
    return f"p is that of {TESTS[deciding].words}, with Holm's correction for {amount(pairs, 'pair')}."


def every_test(measure: str, compared: Sequence[Comparison]) -> list[Table]:
    """The p of each test that was made, uncorrected; none where fewer than ten queries have a figure."""
    made = [test for test in TESTS if any(getattr(one, f"p_{test}") is not None for one in compared)]
    if not made:
        return []
    rows = [(_pair(one), *(p_cell(getattr(one, f"p_{test}")) for test in made)) for one in compared]
    caption = f"{measure}: p of each test, not corrected"
    return [Table(caption, ("systems", *(TESTS[test].short for test in made)), tuple(rows))]


def _reach(compared: Sequence[Comparison]) -> Table:
    rows = tuple(
        (
            _pair(one),
            "–" if one.wins is None else f"{one.wins}\u00a0/\u00a0{one.ties}\u00a0/\u00a0{one.losses}",
            *(one.effect, one.detectable, one.queries_needed),
        )
        for one in compared
    )
    wanted = next((one.wanted for one in compared if one.wanted is not None), None)
    needs = "needs" if wanted is None else f"needs for {wanted:g}"
    return Table(
        "What these queries can detect", ("systems", "win / tie / loss", "effect", "detects", needs), rows
    )
