"""A random sample of a pool: which of its pairs are judged, with which probability, and which are not.

Where a pool has more pairs than people can judge, a random part of it says more of the rest than the best
ranked ones do (E. Yilmaz, E. Kanoulas and J. A. Aslam 2008, SIGIR). The best rank that any system gave a pair
puts it into a band. In each band of each query a number of pairs is fixed and drawn without replacement, so a
pair's inclusion probability is what was drawn of its query's band over what that has. No band of a query is
left without a pair: nothing could be said of it.

The order of the draw depends on the seed and the pair alone. So a pool of greater depth, or of higher rates,
drawn with the same seed has most of the pairs that were judged before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, NamedTuple

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.statistics.allocation import allocate
from curation.core.text import amount, seeded
from curation.pooling.candidates import CandidateSource
from curation.pooling.request import PoolRequest
from curation.store import Cursor, append_rows

USUAL_BANDS = (10, 30, 100, 300, 1000)
"""Last ranks of the bands where a budget is given and no bands; the first is judged whole."""
SYNTAX = "expected last ranks with rates, such as 10:1,50:0.3,100:0.1"

Cell = tuple[str, int]


class Band(NamedTuple):
    """Ranks down to `last`, from the band before on. `rate` is None where a budget decides it."""

    last: int
    rate: float | None


class SampleDesign(NamedTuple):
    """How a sample of a pool is drawn; one of `budget` and the bands' rates is given."""

    bands: tuple[Band, ...]
    budget: int | None

    @property
    def parameters(self) -> dict[str, Any]:
        """As it is stored with the pool."""
        return {"bands": [list(band) for band in self.bands], "budget": self.budget}


class PooledPair(NamedTuple):
    """One row of pool_sample_pairs, without its pool.

    Attributes
    ----------
    rank: the best that a system gave. band: from 1.
    sampled: whether it was drawn and became a candidate.
    """

    query_id: str
    document_id: str
    rank: int
    band: int
    inclusion_probability: float
    sampled: bool


class SampledBand(NamedTuple):
    """Pairs of a band in all queries, and how many of them were drawn; ranks from `first` to `last`."""

    first: int
    last: int
    pairs: int
    drawn: int

    @property
    def ranks(self) -> str:
        return f"{self.first:,} to {self.last:,}" if self.first < self.last else f"{self.last:,}"

    @property
    def share(self) -> float | None:
        """The share that was drawn; None of a band without pairs."""
        return self.drawn / self.pairs if self.pairs else None


class PoolSample(NamedTuple):
    """The proposals of the drawn pairs, and every pooled pair with its probability."""

    proposals: list[CandidateSource]
    pairs: list[PooledPair]


def read_design(bands: str | None, budget: int | None, depth: int) -> SampleDesign | None:
    """The design that options name; None without any.

    Parameters
    ----------
    bands: last ranks with rates, '10:1,50:0.3'; with a budget last ranks alone, '10,50'.
    budget: pairs in all, the first band whole.

    Raises
    ------
    InputError: bands that cannot be read, do not ascend to the depth, or have rates together with a budget.
    """
    if bands is None and budget is None:
        return None
    refuse_problems(out_of_bounds(PoolRequest, {"sample_budget": budget}))
    if bands is None:
        read = [Band(last, None) for last in USUAL_BANDS if last < depth] + [Band(depth, None)]
    else:
        read = [_band(bands, word.strip()) for word in bands.split(",")]
    _check_bands(read, bands, depth)
    if budget is None and any(band.rate is None for band in read):
        raise InputError(
            f"The bands {bands} have no rate each: {SYNTAX}. Or give a budget for the sample, which decides "
            "the rates."
        )
    if budget is not None and any(band.rate is not None for band in read):
        raise InputError(
            f"The bands {bands} have rates, and there is a budget for the sample: give ranks alone, and the "
            "budget decides the rates, or leave the budget out."
        )
    if budget is not None and len(read) == 1:
        raise InputError(
            f"The pool's depth of {depth} makes one band, and the first band is judged whole: nothing is "
            "left to be sampled. Pool deeper, or name bands with rates."
        )
    return SampleDesign(tuple(read), budget)


def _band(whole: str, text: str) -> Band:
    last, colon, rate = text.partition(":")
    try:
        band = Band(int(last), float(rate) if colon else None)
    except ValueError:
        raise InputError(f"The bands {whole}: {text!r} cannot be read; {SYNTAX}.") from None
    if band.rate is not None and not 0 < band.rate <= 1:
        raise InputError(f"The bands {whole}: {rate.strip()} is no rate; expected above 0 and up to 1.")
    return band


def _check_bands(read: Sequence[Band], bands: str | None, depth: int) -> None:
    lasts = [band.last for band in read]
    if any(last <= before for before, last in zip([0, *lasts], lasts, strict=False)):
        raise InputError(f"The bands {bands}: expected last ranks that ascend from 1 on.")
    if lasts[-1] != depth:
        raise InputError(
            f"The bands {bands} end at rank {lasts[-1]}, and the pool's depth is {depth}: the last band has "
            "to end there."
        )


def draw_sample(proposals: Sequence[CandidateSource], design: SampleDesign, seed: int) -> PoolSample:
    """Draw pairs within each band of each query.

    Raises
    ------
    RefusedError: the budget does not suffice for the first band and a pair of each other band of a query.
    """
    ranks: dict[tuple[str, str], int] = {}
    for proposal in proposals:
        pair = (proposal.query_id, proposal.document_id)
        ranks[pair] = min(proposal.rank or 1, ranks.get(pair, proposal.rank or 1))
    cells: defaultdict[Cell, list[str]] = defaultdict(list)
    for (query_id, document_id), rank in sorted(ranks.items()):
        cells[query_id, _number(design, rank)].append(document_id)
    sizes = {cell: len(members) for cell, members in cells.items()}
    drawn = _by_rates(sizes, design) if design.budget is None else _by_budget(sizes, design.budget, seed)
    pairs = []
    for (query_id, band), members in cells.items():
        number = drawn[query_id, band]
        keys = [("pool sample", query_id, name) for name in members]
        chosen = {name for *_, name in seeded(keys, seed, key=list)[:number]}
        probability = number / len(members)
        pairs += [
            PooledPair(query_id, name, ranks[query_id, name], band, probability, name in chosen)
            for name in members
        ]
    kept = {(pair.query_id, pair.document_id) for pair in pairs if pair.sampled}
    return PoolSample([p for p in proposals if (p.query_id, p.document_id) in kept], pairs)


def _number(design: SampleDesign, rank: int) -> int:
    return next(number for number, band in enumerate(design.bands, 1) if rank <= band.last)


def _by_rates(sizes: Mapping[Cell, int], design: SampleDesign) -> dict[Cell, int]:
    rates = {number: band.rate or 1.0 for number, band in enumerate(design.bands, 1)}
    return {cell: max(1, floor(size * rates[cell[1]] + 0.5)) for cell, size in sizes.items()}


def _by_budget(sizes: Mapping[Cell, int], budget: int, seed: int) -> dict[Cell, int]:
    """The first band whole, one pair of each other cell, and what remains in proportion to their sizes."""
    drawn = {cell: size if cell[1] == 1 else 1 for cell, size in sizes.items()}
    rest = budget - sum(drawn.values())
    if rest < 0:
        first = sum(size for (_, band), size in sizes.items() if band == 1)
        raise RefusedError(
            f"The budget of {amount(budget, 'pair')} is too small: the first band alone has "
            f"{amount(first, 'pair')}, and each deeper band of a query needs one, {sum(drawn.values()):,} in "
            "all. Give a larger budget, a first band that ends higher, or fewer bands."
        )
    deeper = seeded((cell for cell in sizes if cell[1] > 1), seed, key=lambda cell: ["pool sample", *cell])
    left = [sizes[cell] - 1 for cell in deeper]
    for cell, more in zip(deeper, allocate(min(rest, sum(left)), left, left), strict=True):
        drawn[cell] += more
    return drawn


def sampled_bands(design: SampleDesign, pairs: Sequence[PooledPair]) -> list[SampledBand]:
    """What was drawn of each band, all queries together."""
    sizes, drawn = Counter(pair.band for pair in pairs), Counter(pair.band for pair in pairs if pair.sampled)
    firsts = [1, *(band.last + 1 for band in design.bands)]
    return [
        SampledBand(first, band.last, sizes[number], drawn[number])
        for number, (first, band) in enumerate(zip(firsts, design.bands, strict=False), 1)
    ]


def append_pairs(cursor: Cursor, pool_id: str, pairs: Sequence[PooledPair]) -> None:
    """Store every pair of a sampled pool."""
    append_rows(cursor, "pool_sample_pairs", pairs, pool_id=pool_id)
