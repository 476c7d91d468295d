"""What a rule would make of the votes, and what the rule in force makes of them. Nothing is stored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from curation.consensus.consensus import ConsensusCounts, counted, settle_pairs
from curation.consensus.rule import ConsensusRule, check_consensus_rule
from curation.consensus.votes import Votes, votes_by_pair


class RuleEffect(NamedTuple):
    """What a rule makes of all pairs.

    Attributes
    ----------
    settled: pairs that get a grade and have none by the rule in force.
    opened: pairs that have a grade by the rule in force and get none.
    regraded: pairs that get another grade.
    """

    counts: ConsensusCounts
    settled: int
    opened: int
    regraded: int


def rule_effect(votes: Votes, rule: ConsensusRule) -> RuleEffect:
    """What a rule would make of the votes that `read_votes` found, decisions included.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    """
    check_consensus_rule(rule)
    pairs = votes_by_pair(votes.rows)
    now, then = (settle_pairs(pairs, one).value for one in (votes.rule, rule))
    return RuleEffect(
        counted(votes._replace(rule=rule)),
        settled=int(np.sum((now < 0) & (then >= 0))),
        opened=int(np.sum((now >= 0) & (then < 0))),
        regraded=int(np.sum((now >= 0) & (then >= 0) & (now != then))),
    )
