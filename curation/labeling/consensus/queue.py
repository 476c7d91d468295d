"""A reviewer's queue: disputed pairs to decide next, and decided pairs whose decision can be changed.

The pairs come in the order of `find_disputes`. The queue leaves out the pairs that other reviewers have
claimed (`claims`), and the pairs that the reviewer still has to judge. Sealed pairs are in the queue, because
a reviewer has to read a pair to decide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.guides.guide import current_guide
from curation.labeling.consensus.case_views import CaseView, draw_case, make_pair_id
from curation.labeling.consensus.claims import claim_pairs, find_claimed_pairs
from curation.labeling.consensus.decisions import Pair, read_recent_decisions
from curation.labeling.consensus.disputes import Dispute, build_case, find_disputes, read_cases
from curation.labeling.consensus.second_opinions import read_awaited_opinions
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, Hosts
from curation.labeling.rounds.withheld_answers import read_withheld_pairs
from curation.people.annotators import REVIEWERS, require_author
from curation.people.seal_access import unseal_for_reviewer
from curation.store import Store


class CaseQueue(NamedTuple):
    """The disputed pairs that a reviewer sees next, and counts of disputed pairs.

    Attributes
    ----------
    disputed: the number of pairs that wait for a decision.
    claimed: the number of disputed pairs that other reviewers have claimed.
    waiting: the number of pairs that wait for a second opinion, or for a judgment by this reviewer.
    """

    cases: list[CaseView]
    disputed: int
    claimed: int
    waiting: int


def read_case_queue(
    store: Store, reviewer: str, limit: int = 6, after: Sequence[str] = (), hosts: Hosts = NO_IMAGE_HOSTS
) -> CaseQueue:
    """Read the next disputed pairs, leaving out pairs already on screen (pair ids in `after`).

    Raises
    ------
    RefusedError: the person is neither reviewer nor lead.
    """
    disputes, open_pairs = _find_open_pairs(store, reviewer)
    claimed_pairs = find_claimed_pairs(store, reviewer)
    free_ids = [pair_id for pair_id, pair in open_pairs.items() if pair not in claimed_pairs]
    next_pairs = [open_pairs[pair_id] for pair_id in free_ids if pair_id not in set(after)][:limit]
    unseal_for_reviewer(store, reviewer, {query_id for query_id, _ in next_pairs})
    pairs_on_screen = [open_pairs[pair_id] for pair_id in after if pair_id in open_pairs]
    claim_pairs(store, reviewer, [*pairs_on_screen, *next_pairs])
    with store.reading() as cursor:
        cases = [build_case(cursor, disputes[pair]) for pair in next_pairs]
        guide = current_guide(cursor)
        n_awaited = len(read_awaited_opinions(cursor))
    return CaseQueue(
        cases=[draw_case(case, guide, hosts) for case in cases],
        disputed=len(open_pairs),
        claimed=len(open_pairs) - len(free_ids),
        waiting=n_awaited + len(disputes) - len(open_pairs),
    )


def count_open_pairs(store: Store, reviewer: str) -> int:
    """Count the disputed pairs that the reviewer can decide now.

    Raises
    ------
    RefusedError: the person is neither reviewer nor lead.
    """
    return len(_find_open_pairs(store, reviewer)[1])


def _find_open_pairs(store: Store, reviewer: str) -> tuple[dict[Pair, Dispute], dict[str, Pair]]:
    """Map pairs to their disputes, and pair ids to the disputed pairs that the reviewer does not still have
    to judge."""
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        withheld_pairs = read_withheld_pairs(cursor, reviewer)
    disputes = {(dispute.query_id, dispute.document_id): dispute for dispute in find_disputes(store)}
    return disputes, {make_pair_id(*pair): pair for pair in disputes if pair not in withheld_pairs}


def read_recent_cases(store: Store, reviewer: str, hosts: Hosts = NO_IMAGE_HOSTS) -> list[CaseView]:
    """Read the pairs that the reviewer decided last, newest first, so that a decision can be changed.

    Raises
    ------
    RefusedError: the person is neither reviewer nor lead.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        withheld_pairs = read_withheld_pairs(cursor, reviewer)
    decided_pairs = [(row.query_id, row.document_id) for row in read_recent_decisions(store, reviewer)]
    pairs = [pair for pair in decided_pairs if pair not in withheld_pairs]
    unseal_for_reviewer(store, reviewer, {query_id for query_id, _ in pairs})
    with store.reading() as cursor:
        guide = current_guide(cursor)
        cases = read_cases(cursor, pairs)
    return [draw_case(case, guide, hosts) for case in cases]
