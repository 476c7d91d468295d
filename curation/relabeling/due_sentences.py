"""The sentences on a quarter's due pairs, the same on Home, on the page Re-label and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.text import pluralize
from curation.people.seal_access import SEALED
from curation.relabeling.calendar import DONE, OPEN, UNFINISHED, QuarterWork
from curation.relabeling.judged_pairs import AGE, DOCUMENT, GUIDE
from curation.relabeling.pair_selection import CHOSEN, OLDEST, RANDOM

REASONS = {
    DOCUMENT: ("whose document changed", "Document changed"),
    GUIDE: ("whose grade's definition in the guide changed", "Guide changed"),
    AGE: ("not judged for two years", "Not judged for two years"),
    OLDEST: ("not judged for the longest time", "Judged longest ago"),
    RANDOM: ("by chance to see how much is wrong", "Random check"),
    CHOSEN: ("chosen by a lead", "Chosen by a lead"),
    "due": ("not judged for two years, by an earlier version", "Not judged for two years, earlier version"),
    "stale": ("that changed or are old, by an earlier version", "Changed or old, earlier version"),
    "control": ("that did not change, by an earlier version", "Not changed, earlier version"),
    SEALED: ("sealed", "Sealed"),
}
"""Why a plan has a pair → the words after a number of pairs, and a label; in the order of the sentences."""


def describe_due(report: Mapping[str, Any], seconds: float | None = None) -> str:
    """Return the sentence on how many pairs should be judged again, why, and how long that takes.

    Parameters
    ----------
    report: the figures of a plan (`plan.RelabelingPlan`) as JSON.
    seconds: the time that a grade takes; None leaves out the time.
    """
    share = (
        f"{report['pairs']:,} of {pluralize(report['set_pairs'], 'pair')} should be judged again this quarter"
    )
    sentence = f"{share}: {list_reasons(report)}."
    if seconds is None:
        return sentence
    people = report["overlap"]
    each = " each" if people > 1 else ""
    minutes = max(1, round(report["judgments"] / people * seconds / 60))
    time = pluralize(minutes, "minute") if minutes < 60 else f"{minutes / 60:.1f} hours"
    new = ", new queries' pairs included" if report.get("new_pairs") else ""
    return f"{sentence} About {time}{each} for {pluralize(people, 'person', 'people')}{new}."


def list_reasons(report: Mapping[str, Any]) -> str:
    """Return the numbers of a plan's pairs by reason, such as `16 not judged for two years, 8 by chance`."""
    counts = report.get("reasons") or report["parts"]  # plans of earlier versions have parts
    return ", ".join(f"{counts[why]:,} {words}" for why, (words, _) in REASONS.items() if counts.get(why))


def describe_work(report: Mapping[str, Any], work: QuarterWork) -> str:
    """Return the sentence on a quarter whose re-labeling round is open, done, or was closed early."""
    judged = f"{work.whole:,} of {pluralize(work.pairs, 'pair')}"
    if work.state == UNFINISHED:
        return (
            f"The round {work.round} was closed with {judged} judged again. The other pairs stay due: "
            "reopen the round."
        )
    states = {OPEN: f"are judged again in the round {work.round}", DONE: "were judged again this quarter"}
    return f"{judged} {states[work.state]}: {list_reasons(report)}."


def describe_rest(report: Mapping[str, Any]) -> list[str]:
    """Return sentences on the pairs that a plan does not contain, and on queries that leave or join the gold
    set."""
    lines = []
    if waiting := report.get("waiting"):
        lines.append(f"{pluralize(waiting, 'more pair follows', 'more pairs follow')} in later quarters.")
    if untouched := report.get("untouched"):
        have = pluralize(untouched, "pair has", "pairs have")
        lines.append(f"{have} a document that changed elsewhere than in what people read, and can wait.")
    if report["retired"] or report["new_queries"]:
        leaving = pluralize(report["retired"], "query leaves", "queries leave")
        brought = pluralize(report["new_pairs"], "pair")
        lines.append(f"{leaving} the set, {report['new_queries']:,} new from the log, with about {brought}.")
    lines += (f"Left out: {pluralize(count, 'pair')} ({why})." for why, count in report["left_out"].items())
    return lines
