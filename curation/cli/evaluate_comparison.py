"""Tables of `goldset evaluate` that compare systems: leaderboard, differences, and how firm the order is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.cli.output import say, table
from curation.text import amount, p_cell

if TYPE_CHECKING:
    from curation.evaluation.comparison.pairs import Comparison
    from curation.evaluation.evaluation import Evaluation


def show_comparisons(found: Evaluation) -> None:
    """The leaderboard, the differences by the first measure, and how often the order holds."""
    headline = next(iter(found.leaderboards), found.measures[0])
    own = [one for one in found.comparisons if one.measure == headline]
    if (board := found.leaderboards.get(headline)) and own:
        columns = ["system", "mean", "group", "ranks", "better than"]
        rows = [
            (row.system, row.value, row.letters, f"{row.best_rank}–{row.worst_rank}", row.better_than)
            for row in board
        ]
        table(
            f"Leaderboard by {headline}: systems with a common letter cannot be distinguished; "
            f"{own[0].deciding.words}",
            columns,
            rows,
        )
    _show_pairs(f"{headline}: differences", [one for one in own if one.stratum is None])
    by_stratum = [one for one in own if one.stratum is not None]
    apart = [one for one in by_stratum if one.distinguished]
    if apart:
        _show_pairs(f"{headline}: strata in which systems can be distinguished", apart)
    if by_stratum:
        tested = sum(one.no_verdict is None for one in by_stratum)
        say(
            f"By kind of query: {tested:,} comparisons tested, {len(apart):,} distinguished; "
            f"{len(by_stratum) - tested:,} have too few queries."
        )
    _show_order(found)
    _show_similar_lists(found)


def _show_similar_lists(found: Evaluation) -> None:
    from curation.evaluation.report.sections import similar_lists

    for section in similar_lists.write(found):
        for one in section.tables:
            table(f"{section.heading}. {one.caption}", one.columns, one.rows)
        say(section.sentence)


def _show_pairs(title: str, compared: list[Comparison]) -> None:
    from curation.evaluation.report.sections.comparison import every_test

    if not compared:
        return
    deciding = compared[0].deciding
    columns = ["systems", "stratum", "difference", "low", "high", "p", deciding.column, "effect"]
    columns += ["win / tie / loss", "n", "detects", "needs"]
    rows: list[tuple[object, ...]] = [
        (
            f"{one.system} − {one.other}",
            "" if one.stratum is None else f"{one.stratum.facet} {one.stratum.value}",
            *(one.difference, one.low, one.high, p_cell(one.p), p_cell(one.p_corrected), one.effect),
            "" if one.wins is None else f"{one.wins}/{one.ties}/{one.losses}",
            *(one.n, one.detectable, one.queries_needed),
        )
        for one in compared
    ]
    if all(one.stratum is None for one in compared):
        columns.pop(1)
        rows = [(row[0], *row[2:]) for row in rows]
    table(f"{title}; {deciding.words}", columns, rows)
    _show_notes(compared)
    wanted = next((one.wanted for one in compared if one.wanted is not None), None)
    if wanted is not None:
        say(
            "detects: the difference that as many such queries find in 80 % of sets. "
            f"needs: the queries that find a difference of {wanted:g} so often."
        )
    for every in every_test(compared[0].measure, compared) if compared[0].stratum is None else ():
        table(every.caption, every.columns, every.rows)


def _show_notes(compared: list[Comparison]) -> None:
    """What is to be remarked, below the table: a column more would break its numbers."""
    for note in dict.fromkeys(one.note for one in compared if one.note):
        noted = [
            f"{one.system} − {one.other}" + ("" if one.stratum is None else f" ({one.stratum.value})")
            for one in compared
            if one.note == note
        ]
        say(f"{', '.join(noted)}: {note}.")


def _show_order(found: Evaluation) -> None:
    from curation.evaluation.comparison.order import why_no_order
    from curation.evaluation.report.sections.comparison import by_measure

    why = why_no_order(found.order)
    if why is not None:
        say(why)
    if found.order is None or why is not None:
        return
    rows: list[tuple[object, ...]] = []
    for view in found.order.views:
        kept = [
            (pair.kept, f"{pair.ahead} before {pair.behind}") for pair in view.pairs if pair.kept is not None
        ]
        least, pair = min(kept, default=(None, ""))
        rows.append((view.name, view.tau, view.mean_tau, least, pair))
    columns = ["by", "tau", "mean tau of draws", "least kept", "order kept least"]
    table(f"{found.order.measure}: how often the order of the means holds", columns, rows)
    for other in by_measure(found.order):
        table(other.caption, other.columns, other.rows)
    noise = found.order.noise
    if noise is not None:
        unmeasured = ", ".join(map(str, noise.unmeasured))
        rest = f" No such pair has the grade {unmeasured}: it remains as it is." if unmeasured else ""
        say(
            f"labels: drawn as annotators differ on {amount(noise.judged, 'pair')} that two or more "
            f"judged.{rest}"
        )
