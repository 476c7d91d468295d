"""The consensus rule that a project uses, with its parameters.

The rule is stored as the setting 'consensus'; a project without this setting uses majority. No rule has a
random step: the EM of Dawid and Skene's rule starts from the shares of votes, and the stored rule names this
start.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from curation.core.digests import canonical_json
from curation.core.errors import refuse_problems
from curation.core.request import describe_out_of_bounds, option
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting, put_setting, record_event

MAJORITY, MEDIAN, DAWID_SKENE = "majority", "median", "dawid-skene"
RULES = (MAJORITY, MEDIAN, DAWID_SKENE)
REMOVED_RULE = "ordinal-dawid-skene"
"""Name of a rule that earlier versions had; `DAWID_SKENE` replaces that rule."""
DESCRIPTIONS = {
    MAJORITY: "A pair gets the grade that more than half of the votes give.",
    MEDIAN: "A pair gets the middle vote as its grade, or no grade if the two middle votes differ.",
    DAWID_SKENE: "A pair gets the most probable grade, estimated from how often each person confuses "
    "which grades (Dawid and Skene).",
}
"""Rule → a description for people, in a sentence or two."""
NAMES = {MAJORITY: "Majority", MEDIAN: "Median", DAWID_SKENE: "Dawid and Skene"}


@dataclass(frozen=True)
class ConsensusRule:
    """A rule and its settings; a setting that the rule does not use keeps its default."""

    name: str = option(
        MAJORITY,
        "Rule by which votes become a grade",
        "New consensus rule: majority, median or dawid-skene.",
        flag="--rule",
        choices=RULES,
        words=NAMES,
        unset="unchanged",
    )
    smoothing: float = option(
        0.1,
        "Pseudo-count added to each confusion",
        "Pseudo-count that dawid-skene adds to each confusion cell.",
        minimum=0,
        maximum=100,
        step=0.1,
        unset="0.1, or unchanged",
    )
    least: float = option(
        0.5,
        "Minimum probability of a grade",
        "Probability that a grade must exceed under Dawid-Skene. A pair without such a grade is disputed.",
        flag="--min-probability",
        minimum=0.5,
        maximum=0.99,
        step=0.05,
        unset="0.5, or unchanged",
    )

    @property
    def by_errors(self) -> bool:
        """Return whether this consensus rule estimates annotators' errors, as Dawid-Skene does."""
        return self.name == DAWID_SKENE

    @property
    def settings(self) -> dict[str, Any]:
        """Return the rule's name and all settings on which its outcome depends."""
        if not self.by_errors:
            return {"rule": self.name}
        estimated = {"least": self.least, "start": "vote shares", "smoothing": self.smoothing}
        return {"rule": self.name, **estimated}


def read_rule(cursor: Cursor) -> ConsensusRule:
    """Read the project's consensus rule; `REMOVED_RULE`, which only older projects have, is read as
    `DAWID_SKENE`."""
    stored = json.loads(get_setting(cursor, "consensus") or "{}")
    name = stored.get("rule", MAJORITY)
    name = DAWID_SKENE if name == REMOVED_RULE else name
    default = ConsensusRule()
    return ConsensusRule(name, stored.get("smoothing", default.smoothing), stored.get("least", default.least))


def describe_replaced_rule(cursor: Cursor) -> str:
    """Return a sentence for an older project whose consensus rule was removed; '' for other projects."""
    settings = json.loads(get_setting(cursor, "consensus") or "{}")
    if settings.get("rule") != REMOVED_RULE:
        return ""
    return f"This project's consensus rule was {REMOVED_RULE}, which was removed: {DAWID_SKENE} replaces it."


def set_rule(store: Store, rule: ConsensusRule, actor: str = COMMAND_LINE) -> None:
    """Set the project's consensus rule, which from then on grades all pairs without a reviewer's decision.

    Raises
    ------
    InputError: the rule is unknown, or its settings are out of range.
    NotFoundError: the actor is not in the project.
    RefusedError: the actor is not a lead.
    """
    check_consensus_rule(rule)
    with store.transaction() as cursor:
        require_author(cursor, actor, "lead")
        before = read_rule(cursor)
        if before.settings == rule.settings and not describe_replaced_rule(cursor):
            return
        put_setting(cursor, "consensus", canonical_json(rule.settings))
        (judgments,) = cursor.execute("SELECT count(*) FROM counted_judgments").fetchall()[0]
        detail = {"before": before.settings, "now": rule.settings, "judgments": judgments}
        record_event(cursor, "consensus rule", detail, actor)


def check_consensus_rule(rule: ConsensusRule) -> None:
    """Reject an unknown rule and settings out of range.

    Raises
    ------
    InputError: the rule is unknown, or its settings are out of range.
    """
    problems = []
    if rule.name == REMOVED_RULE:
        problems.append(f"The consensus rule {REMOVED_RULE} was removed: use {DAWID_SKENE}.")
    elif rule.name not in RULES:
        problems.append(f"There is no consensus rule {rule.name!r}: expected one of {', '.join(RULES)}.")
    problems += describe_out_of_bounds(ConsensusRule, vars(rule))
    refuse_problems(problems)
