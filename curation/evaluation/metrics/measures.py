"""The measures by name, such as `ndcg_exp@10`: what each computes, to which depth, and what it takes.

    ndcg_exp@k    nDCG with the gain 2^grade − 1 (Burges et al. 2005, ICML): the default headline
    ndcg@k        nDCG with the grade itself as gain, as trec_eval computes it (Järvelin & Kekäläinen 2002)
    mrr@k         1 / rank of the first relevant document, 0 below rank k
    map           average precision over the whole list, or to depth k (`map@k`)
    recall@k      share of the relevant documents that are among the first k
    success@k     whether a relevant document is among the first k (hit rate; some texts call it Recall@k)
    precision@k   share of the first k places that hold relevant documents
    rprec         precision at the number of relevant documents
    bpref         how often a relevant document is above judged irrelevant ones (Buckley & Voorhees 2004)
    rbp(p)        rank-biased precision with the persistence p, and its residual (Moffat & Zobel 2008)
    judged@k      share of the documents among the first k that are judged

ir-measures computes all but the last two. It leaves rbp to a package that has no residual, and breaks ties
for judged@k by another rule than for all else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation.errors import refuse_problems

HEADLINE = "ndcg_exp@10"
MOST_GAIN = 16
"""The engine keeps a counter for each gain, and 2^16 of these are as many as it can keep quickly."""
PERSISTENCE = 0.8
DEEPEST = 100_000


class MeasureKind(NamedTuple):
    """A family of measures.

    Attributes
    ----------
    binary: takes documents as relevant from a threshold on; others use the grades.
    depth: 'needed', 'possible' or '' where the measure has none.
    """

    name: str
    binary: bool
    depth: str
    about: str


KINDS = {
    kind.name: kind
    for kind in (
        MeasureKind("ndcg_exp", False, "needed", "nDCG, gain 2^grade − 1"),
        MeasureKind("ndcg", False, "needed", "nDCG, gain is the grade, as in trec_eval"),
        MeasureKind("mrr", True, "needed", "1 / rank of the first relevant document"),
        MeasureKind("map", True, "possible", "average precision"),
        MeasureKind("recall", True, "needed", "share of the relevant documents that are found"),
        MeasureKind("success", True, "needed", "whether a relevant document is found (hit rate)"),
        MeasureKind("precision", True, "needed", "share of the places that hold relevant documents"),
        MeasureKind("rprec", True, "", "precision at the number of relevant documents"),
        MeasureKind("bpref", True, "", "relevant documents above judged irrelevant ones"),
        MeasureKind("rbp", True, "", "rank-biased precision"),
        MeasureKind("judged", False, "needed", "share of the documents that are judged"),
    )
}
DEFAULT_MEASURES = (
    *(HEADLINE, "ndcg@10", "mrr@10", "map", "recall@10", "success@10", "precision@10"),
    *("rprec", "bpref", "rbp(0.8)", "judged@10"),
)
_NAME = re.compile(r"([a-z_]+)(?:\(([0-9.]+)\))?(?:@([0-9]+))?")
_ALIASES = {"hit": "success", "hit_rate": "success", "p": "precision", "rr": "mrr", "ap": "map"}


class Measure(NamedTuple):
    """One measure; `depth` None is the whole list, `persistence` is rbp's."""

    kind: str
    depth: int | None = None
    persistence: float | None = None

    @property
    def name(self) -> str:
        """As users write it: ndcg_exp@10, map, rbp(0.8)."""
        persistence = "" if self.persistence is None else f"({self.persistence:g})"
        return f"{self.kind}{persistence}" + ("" if self.depth is None else f"@{self.depth}")

    @property
    def binary(self) -> bool:
        """Whether a threshold says which documents are relevant."""
        return KINDS[self.kind].binary

    @property
    def about(self) -> str:
        """What it computes, in a few words."""
        return KINDS[self.kind].about


def measures_named(names: Iterable[str]) -> tuple[Measure, ...]:
    """The measures of these names, each once, in their order.

    Raises
    ------
    InputError: names that are no measures, all together; or no name.
    """
    found: dict[Measure, None] = {}
    problems = []
    for name in names:
        measure = _read(name)
        if isinstance(measure, str):
            problems.append(measure)
        else:
            found[measure] = None
    if not found and not problems:
        problems = ["no measure was named: expected at least one, such as ndcg_exp@10,recall@100"]
    refuse_problems(problems, way_out=f"Measures: {', '.join(map(_pattern, KINDS.values()))}.")
    return tuple(found)


def measures_for(grades: Sequence[int], names: Iterable[str] | None = None) -> tuple[Measure, ...]:
    """The measures asked for, or the default ones that the scale allows.

    Parameters
    ----------
    grades: of the scale.

    Raises
    ------
    InputError: names that are no measures, or an exponential gain of grades above `MOST_GAIN`.
    """
    highest = max(grades, default=0)
    if names is None:
        default = measures_named(DEFAULT_MEASURES)
        return tuple(one for one in default if one.kind != "ndcg_exp" or highest <= MOST_GAIN)
    chosen = measures_named(names)
    exponential = [one.name for one in chosen if one.kind == "ndcg_exp" and highest > MOST_GAIN]
    refuse_problems(
        [f"{name} has the gain 2^grade − 1, and the scale goes up to {highest}" for name in exponential],
        way_out=f"It can be computed for grades up to {MOST_GAIN}; take ndcg@k, whose gain is the grade.",
    )
    return chosen


def _read(name: str) -> Measure | str:
    """The measure, or what is wrong with its name."""
    match = _NAME.fullmatch(name.strip().lower())
    kind = KINDS.get(_ALIASES.get(match[1], match[1])) if match else None
    if match is None or kind is None:
        return f"{name!r} is no measure"
    persistence, depth = match[2], match[3]
    if kind.name == "rbp":
        return _rbp(name, persistence, depth)
    if persistence is not None:
        return f"{name!r}: {kind.name} takes no number in brackets"
    if depth is None:
        return (
            f"{name!r} needs a depth, such as {kind.name}@10"
            if kind.depth == "needed"
            else Measure(kind.name)
        )
    if not kind.depth:
        return f"{name!r}: {kind.name} has no depth"
    if not 1 <= int(depth) <= DEEPEST:
        return f"{name!r}: expected a depth from 1 to {DEEPEST:,}"
    return Measure(kind.name, int(depth))


def _rbp(name: str, persistence: str | None, depth: str | None) -> Measure | str:
    try:
        value = PERSISTENCE if persistence is None else float(persistence)
    except ValueError:
        value = 0.0
    if depth is not None:
        return f"{name!r}: rbp has no depth; the persistence says how far down it looks"
    if not 0 < value < 1:
        return f"{name!r}: expected a persistence between 0 and 1, such as rbp(0.8)"
    return Measure("rbp", persistence=value)


def _pattern(kind: MeasureKind) -> str:
    if kind.name == "rbp":
        return "rbp(0.8)"
    return {"needed": f"{kind.name}@k", "possible": f"{kind.name} or {kind.name}@k"}.get(
        kind.depth, kind.name
    )
