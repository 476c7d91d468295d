"""Head, torso and tail: how often a query is asked, as three bands of the traffic.

Queries are laid end to end in descending order of how often they were asked, each as long as its
traffic, so that the whole log is an axis from 0 to 1. The head is the first third of that axis, the
torso the second, the tail the last: three bands that carry about the same traffic, though the head may
be ten queries and the tail ten thousand.

Queries that were asked equally often form one *level* and are never parted: nothing in the log says that
one of them is rarer than another, so a boundary among them would be an accident of spelling or arrival.
A level belongs to the band that holds its middle. Two rules come first, for any shares: a
query asked once is tail (in a log of unique queries nothing is head), and the most asked level is
head (one query with 70 % of the traffic has its middle in the torso).

A band can also end at a number of queries, for who has decided what the head is: the 500 most asked. The axis
is then that of queries, each of length one, and levels are not parted there either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError
from curation.queries.sampling.frame.limits import (
    HEAD,
    TORSO,
)

BANDS = ("head", "torso", "tail")


def band_of(traffic: NDArray[np.int64], head: float = HEAD, torso: float = TORSO) -> NDArray[np.intp]:
    """The band of each query, as its position in `BANDS`.

    Parameters
    ----------
    traffic: how often each query was asked, shape (queries,), all at least 1.
    head, torso: where these bands end, from the most asked down: below 1 the share of the traffic, from 2 the
        number of queries.

    Raises
    ------
    InputError: the ends are not 0 < head < torso, or one is neither a share nor a number.
    """
    _refuse_ends(head, torso)
    levels, inverse, queries = np.unique(traffic, return_inverse=True, return_counts=True)
    of_traffic = _middles(levels * queries) / max(int((levels * queries).sum()), 1)
    of_queries = _middles(queries)
    beyond = [(of_traffic if end < 1 else of_queries) >= end for end in (head, torso)]
    band = np.where(beyond[0], 1 + beyond[1], 0)
    band[-1:] = BANDS.index("head")
    band[levels == 1] = BANDS.index("tail")
    return band[inverse]


def _middles(lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Where the middle of each level is when they are laid end to end, the last one first."""
    turned = lengths[::-1]
    return np.asarray(np.cumsum(turned) - turned / 2)[::-1]


def _refuse_ends(head: float, torso: float) -> None:
    shares = [end for end in (head, torso) if end < 1]
    numbers = [end for end in (head, torso) if end >= 2 and end == end // 1]
    if len(shares) + len(numbers) < 2 or min(head, torso) <= 0 or (len(numbers) != 1 and head >= torso):
        raise InputError(
            f"The bands end at {head:g} and {torso:g}; expected shares of the traffic with 0 < head < "
            "torso < 1, or whole numbers of queries from 2 on."
        )
