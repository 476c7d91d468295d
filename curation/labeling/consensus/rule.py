"""The rule by which votes become a grade: which one the project has, with all that its outcome depends on.

It is kept as the setting 'consensus'; a project without one has majority. No rule has a random step: Dawid
and Skene's EM starts from the shares of votes, which is said with the rule instead of a seed.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from curation.core.errors import refuse_problems
from curation.core.text import canonical_json
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting, put_setting, record_event

MAJORITY, MEDIAN, DAWID_SKENE = "majority", "median", "dawid-skene"
RULES = (MAJORITY, MEDIAN, DAWID_SKENE)

GONE = "ordinal-dawid-skene"
"""A rule of earlier versions; `DAWID_SKENE` does its work now."""

MEANING = {
    MAJORITY: "A pair has the grade that more than half of the votes name.",
    MEDIAN: "A pair has the middle vote. Where two middle votes differ, it has no grade.",
    DAWID_SKENE: "A pair has the most probable grade, from how often each person confuses which grades "
    "(Dawid and Skene).",
}
"""Rule → what it does, in a sentence or two."""

SMOOTHING = 0.1
LEAST = 0.5


class ConsensusRule(NamedTuple):
    """A rule and its settings; those that a rule does not look at keep their defaults.

    Attributes
    ----------
    smoothing: dawid-skene: added to each cell of each confusion matrix, in cases.
    least: dawid-skene: a grade must be more probable than this, or the pair is disputed.
    """

    name: str = MAJORITY
    smoothing: float = SMOOTHING
    least: float = LEAST

    @property
    def by_errors(self) -> bool:
        """Whether the rule estimates annotators' errors."""
        return self.name == DAWID_SKENE

    @property
    def settings(self) -> dict[str, Any]:
        """All that its outcome depends on besides the votes."""
        if not self.by_errors:
            return {"rule": self.name}
        estimated = {"least": self.least, "start": "vote shares", "smoothing": self.smoothing}
        return {"rule": self.name, **estimated}


def read_rule(cursor: Cursor) -> ConsensusRule:
    """The rule in force: where an older project has one that is `GONE`, the one that does its work now."""
    stored = json.loads(get_setting(cursor, "consensus") or "{}")
    name = stored.get("rule", MAJORITY)
    name = DAWID_SKENE if name == GONE else name
    return ConsensusRule(name, stored.get("smoothing", SMOOTHING), stored.get("least", LEAST))


def replaced_rule(cursor: Cursor) -> str:
    """What an older project must know of its rule, in a sentence; '' where it is as it was set."""
    stored = json.loads(get_setting(cursor, "consensus") or "{}")
    return (
        f"This project's rule was {GONE}, which is gone: {DAWID_SKENE} does its work now."
        if (stored.get("rule") == GONE)
        else ""
    )


def set_rule(store: Store, rule: ConsensusRule, actor: str = COMMAND_LINE) -> None:
    """Make a rule the project's; it holds for all pairs without a decision from now on.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    NotFoundError, RefusedError: the project does not know the actor, or they are no lead.
    """
    check_consensus_rule(rule)
    with store.transaction() as cursor:
        require_author(cursor, actor, "lead")
        before = read_rule(cursor)
        if before.settings == rule.settings and not replaced_rule(cursor):
            return
        put_setting(cursor, "consensus", canonical_json(rule.settings))
        (judgments,) = cursor.execute("SELECT count(*) FROM counted_judgments").fetchall()[0]
        detail = {"before": before.settings, "now": rule.settings, "judgments": judgments}
        record_event(cursor, "consensus rule", detail, actor)


def check_consensus_rule(rule: ConsensusRule) -> None:
    """Refuse what is no rule.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    """
    problems = []
    if rule.name == GONE:
        problems.append(f"The rule {GONE} is gone: {DAWID_SKENE} does its work now.")
    elif rule.name not in RULES:
        problems.append(f"The rule {rule.name!r}: expected one of {', '.join(RULES)}.")
    if not 0 <= rule.smoothing <= 100:
        problems.append(f"Smoothing {rule.smoothing:g}: expected 0 to 100 cases.")
    if not 0.5 <= rule.least < 1:
        problems.append(f"Least probability {rule.least:g}: expected 0.5 to below 1.")
    refuse_problems(problems)
