"""How many to draw from each stratum: exactly the size asked, never more than a stratum holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from curation.core.errors import InputError
from curation.core.text import amount


def allocate(size: int, populations: Sequence[int], weights: Sequence[int | Fraction]) -> list[int]:
    """Share `size` among strata in proportion to `weights`, by largest remainder (Hamilton's method).

    What a small stratum cannot use goes to the others, in the same proportion; if these have no weight,
    in proportion to their populations. Remainders that tie go to the stratum named first. `size` must not
    exceed the populations' sum; weights are 0 or more.
    """
    drawn = [0] * len(populations)
    unfilled = [stratum for stratum, population in enumerate(populations) if population]
    while True:
        rest = size - sum(drawn)
        if not any(weights[stratum] for stratum in unfilled):
            weights = populations
        total = sum(weights[stratum] for stratum in unfilled)
        shares = {stratum: Fraction(rest * weights[stratum]) / total for stratum in unfilled}
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


def allocate_with_quotas(
    size: int,
    names: Sequence[str],
    populations: Sequence[int],
    weights: Sequence[int | Fraction],
    quotas: Mapping[str, int],
) -> list[int]:
    """Give the strata that have a quota (name → number) exactly that, and share the rest among the others.

    Raises
    ------
    InputError: quotas of unknown strata, or that cannot be met together with the size.
    """
    problems = [impossible(name, quota, names, populations) for name, quota in quotas.items()]
    left = size - sum(quotas.values())
    others = [0 if name in quotas else number for name, number in zip(names, populations, strict=True)]
    if left < 0:
        problems.append(
            f"the quotas sum to {size - left:,}, more than the {amount(size, 'query', 'queries')} of the "
            "sample"
        )
    elif left > sum(others):
        problems.append(
            f"the quotas leave {left:,} of {amount(size, 'query', 'queries')} to the other strata, which "
            f"have {sum(others):,}"
        )
    if any(problems):
        raise InputError([problem for problem in problems if problem])
    numbers = allocate(left, others, weights)
    return [quotas.get(name, number) for name, number in zip(names, numbers, strict=True)]


def impossible(name: str, quota: int, names: Sequence[str], populations: Sequence[int]) -> str:
    """What is wrong with a quota, or nothing."""
    if name not in names:
        shown = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
        return f"{name!r} is no stratum of this sample; expected one of {shown}"
    if quota < 0:
        return f"the quota of {name!r} is {quota}; expected 0 or more"
    population = populations[names.index(name)]
    return (
        f"{name!r} has {amount(population, 'query', 'queries')} and a quota of {quota:,}"
        if quota > population
        else ""
    )
