"""What a rule would make of the votes, compared with the rule in force. Nothing is stored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from curation.labeling.consensus.consensus import ConsensusCounts, settle_pairs, settled
from curation.labeling.consensus.rule import ConsensusRule, check_consensus_rule
from curation.labeling.consensus.votes import read_votes, votes_by_pair
from curation.store import Store


class RuleEffect(NamedTuple):
    """What a rule makes of all pairs, against the rule in force.

    `settled` pairs get a grade and had none, `opened` ones lose theirs, `regraded` ones get another one.
    """

    counts: ConsensusCounts
    settled: int
    opened: int
    regraded: int


def rule_effect(store: Store, rule: ConsensusRule) -> RuleEffect:
    """What a rule would make of all votes, decisions included.

    Raises
    ------
    InputError: there is no such rule, or its settings are out of range.
    """
    check_consensus_rule(rule)
    with store.reading() as cursor:
        votes = read_votes(cursor)
    pairs = votes_by_pair(votes.rows)
    now, then = (settle_pairs(pairs, one).value for one in (votes.rule, rule))
    return RuleEffect(
        settled(votes._replace(rule=rule)).counts,
        settled=int(np.sum((now < 0) & (then >= 0))),
        opened=int(np.sum((now >= 0) & (then < 0))),
        regraded=int(np.sum((now >= 0) & (then >= 0) & (now != then))),
    )
