"""The effect of a consensus rule: numbers of pairs whose grade would change if the project used the rule."""

from __future__ import annotations

import numpy as np

from curation.labeling.consensus.consensus import Consensus, ConsensusCounts, grade_pairs
from curation.labeling.consensus.rule import ConsensusRule, check_consensus_rule
from curation.labeling.consensus.votes import group_votes, read_votes
from curation.store import Store


def compute_rule_effect(store: Store, rule: ConsensusRule) -> tuple[ConsensusCounts, int, int, int]:
    """Compare a consensus rule with the project's current rule, on all votes and decisions.

    Returns
    -------
    The counts of pairs under the rule, and the numbers of pairs that would gain a grade, lose their grade,
    and get a different grade.

    Raises
    ------
    InputError: the rule is unknown, or its settings are out of range.
    """
    check_consensus_rule(rule)
    with store.reading() as cursor:
        votes = read_votes(cursor)
    pairs = group_votes(votes.rows)
    now, proposed = grade_pairs(pairs, votes.rule)[0], grade_pairs(pairs, rule)
    then = proposed[0]
    changes = (now < 0) & (then >= 0), (now >= 0) & (then < 0), (now >= 0) & (then >= 0) & (now != then)
    graded, opened, regraded = (int(np.sum(change)) for change in changes)
    return Consensus(rule.name, pairs, proposed).counts, graded, opened, regraded
