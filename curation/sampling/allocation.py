"""How many to draw from each stratum: exactly the size asked, never more than a stratum holds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def allocate(size: int, populations: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Share `size` among strata in proportion to `weights`, by largest remainder (Hamilton's method).

    What a small stratum cannot use goes to the others, in the same proportion. Remainders that tie go to
    the stratum named first. `size` must not exceed the populations' sum; weights are positive.
    """
    drawn = [0] * len(populations)
    unfilled = [stratum for stratum, population in enumerate(populations) if population]
    while True:
        rest = size - sum(drawn)
        total = sum(weights[stratum] for stratum in unfilled)
        shares = {stratum: Fraction(rest * weights[stratum], total) for stratum in unfilled}
        full = [stratum for stratum in unfilled if shares[stratum] >= populations[stratum]]
        if not full:
            break
        for stratum in full:
            drawn[stratum] = populations[stratum]
            unfilled.remove(stratum)
    for stratum, share in shares.items():
        drawn[stratum] = int(share)
    by_remainder = sorted(shares, key=lambda stratum: (int(shares[stratum]) - shares[stratum], stratum))
    for stratum in by_remainder[: size - sum(drawn)]:
        drawn[stratum] += 1
    return drawn
