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
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curation.errors import InputError

BANDS = ("head", "torso", "tail")
HEAD = 1 / 3
TORSO = 2 / 3


def band_of(traffic: NDArray[np.int64], head: float = HEAD, torso: float = TORSO) -> NDArray[np.intp]:
    """The band of each query, as its position in `BANDS`.

    Parameters
    ----------
    traffic: how often each query was asked, shape (queries,), all at least 1.
    head, torso: the shares of traffic, from the most asked down, at which these bands end.

    Raises
    ------
    InputError: the shares are not 0 < head < torso < 1.
    """
    if not 0 < head < torso < 1:
        raise InputError(
            f"The bands end at traffic shares of {head:g} and {torso:g}; expected 0 < head < torso < 1."
        )
    levels, inverse, queries = np.unique(traffic, return_inverse=True, return_counts=True)
    length = (levels * queries)[::-1]
    middle = ((np.cumsum(length) - length / 2) / max(int(length.sum()), 1))[::-1]
    band = np.searchsorted([head, torso], middle, side="right")
    band[-1:] = BANDS.index("head")
    band[levels == 1] = BANDS.index("tail")
    return band[inverse]
