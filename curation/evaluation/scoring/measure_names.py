"""The measures by name, such as `ndcg_exp@10`: what each computes, to which depth, and what it takes.

    ndcg_exp@k    nDCG with the gain 2^grade − 1 (Burges et al. 2005, ICML): the default headline
    ndcg@k        nDCG with the grade itself as gain, as trec_eval computes it (Järvelin & Kekäläinen 2002)
    err@k         expected reciprocal rank of a reader who stops when satisfied (Chapelle et al. 2009, CIKM)
    mrr@k         1 / rank of the first relevant document, 0 below rank k
    map           average precision over the whole list, or to depth k (`map@k`)
    gmap          geometric mean of average precision (Robertson 2006, CIKM)
    recall@k      share of the relevant documents that are among the first k
    success@k     whether a relevant document is among the first k (hit rate; some texts call it Recall@k)
    precision@k   share of the first k places that hold relevant documents
    rprec         precision at the number of relevant documents
    bpref         how often a relevant document is above judged irrelevant ones (Buckley & Voorhees 2004)
    iprec@r       the best precision at any rank with a recall of r or more
    rbp(p)        rank-biased precision with the persistence p, and its residual (Moffat & Zobel 2008)
    rbp_graded(p) the same with gains by grade (Sakai & Kando 2008)
    set_precision, set_recall, set_f1
                  of the whole list as a set, without an order
    judged@k      share of the documents among the first k that are judged
    evidence_recall@k, evidence_precision@k, evidence_iou@k, evidence_hit@k, evidence_mrr@k, evidence_ndcg@k
                  of the characters that people marked as evidence, in the first k chunks
    evidence_within@w
                  recall of evidence in the first chunks that have w words together
    context_words@k
                  words of the first k chunks; for all of these see `evaluation.scoring.chunk_measures`
    num_ret, num_rel, num_rel_ret
                  totals: documents that were returned, are relevant, and both

ndcg_exp, ndcg, err and mrr without a depth are of the whole list. The package that ir-measures has for err
takes 4 for the highest grade and ends at rank 20, and ir-measures breaks ties for judged@k by
another rule than for all else.

What a measure's figure is of the values of queries: their mean, their geometric mean, or their total.

A geometric mean is the mean of logarithms. So that whatever holds for means holds for it, too, gmap is
averaged on a scale from 0 to 1: 1 + ln(AP) / −ln(FLOOR), where AP below the floor is raised to it. What comes
out is taken back to average precision. The floor is trec_eval's (S. Robertson (2006), On GMAP: and other
transformations, CIKM).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import log
from typing import Literal, NamedTuple

import numpy as np

from curation.core.errors import InputError, refuse_problems
from curation.core.statistics.arrays import Floats

HEADLINE = "ndcg_exp@10"
MAX_GAIN = 16
"""The highest grade of an exponential gain: above it, one document hides what all others gain."""
EXPONENTIAL = ("ndcg_exp", "err")
"""Kinds with the gain 2^grade − 1."""
CONTEXT, WITHIN = "context_words", "evidence_within"
PERSISTENCE = 0.8
DEEPEST = 100_000
Summary = Literal["mean", "geometric", "total"]
DEFAULT_MEASURES = (
    *(HEADLINE, "ndcg@10", "mrr@10", "map", "recall@10", "success@10", "precision@10"),
    *("rprec", "bpref", "rbp(0.8)", "judged@10"),
)
CHUNK_MEASURES = (
    *(f"{WITHIN}@1000", "evidence_recall@5", "evidence_precision@5", "evidence_iou@5", "evidence_hit@5"),
    *("evidence_mrr@5", "evidence_ndcg@5", f"{CONTEXT}@5", HEADLINE, "mrr@10", "recall@10", "judged@10"),
)
"""The default ones where a run has chunks and the release has evidence."""
FURTHER_MEASURES = (
    *("ndcg_exp", "ndcg", "mrr", "err@10", "gmap", "rbp_graded(0.8)", "iprec@0.1"),
    *("set_precision", "set_recall", "set_f1", "num_ret", "num_rel", "num_rel_ret"),
)
"""One measure of each other kind that needs nothing but a run."""
_NAME = re.compile(r"(set_?f1|[a-z_]+?)(?:\((?:[a-z]+=)?([0-9.]+)\))?(?:[@_.]([0-9.]+))?")
_ALIASES = {
    **{"hit": "success", "hit_rate": "success", "p": "precision", "r": "recall", "rr": "mrr", "ap": "map"},
    **{"ndcg_cut": "ndcg", "map_cut": "map", "recip_rank": "mrr", "gm_map": "gmap"},
    **{"iprec_at_recall": "iprec", "set_p": "set_precision", "set_f": "set_f1"},
    **{"setp": "set_precision", "setr": "set_recall", "setf": "set_f1", "setf1": "set_f1"},
    **{"context_tokens": CONTEXT},
    **{"numret": "num_ret", "numrel": "num_rel", "numrelret": "num_rel_ret"},
}
"""Names of trec_eval, ir-measures and others, without their numbers."""
FLOOR = 0.00001


class MeasureKind(NamedTuple):
    """A family of measures.

    Attributes
    ----------
    binary: takes documents as relevant from a threshold on; others use the grades.
    depth: 'needed', 'possible', 'recall' (a level of recall instead of a depth), or '' where it has none.
    persistence: whether it takes one, in brackets.
    engine: trec_eval has it, and `evaluation.scoring.measure_values` computes it.
    summary: what its figure is of the values of queries.
    of_chunks: it is of chunks, as `evaluation.scoring.chunk_measures` computes it.
    """

    name: str
    binary: bool
    depth: str
    about: str
    persistence: bool = False
    engine: bool = True
    summary: Summary = "mean"
    of_chunks: bool = False


KINDS = {
    kind.name: kind
    for kind in (
        MeasureKind("ndcg_exp", False, "possible", "nDCG, gain 2^grade − 1"),
        MeasureKind("ndcg", False, "possible", "nDCG, gain is the grade, as in trec_eval"),
        MeasureKind("err", False, "possible", "expected reciprocal rank of a satisfied reader", engine=False),
        MeasureKind("mrr", True, "possible", "1 / rank of the first relevant document"),
        MeasureKind("map", True, "possible", "average precision"),
        MeasureKind(
            "gmap", True, "", "geometric mean of average precision, 0 taken as 0.00001", summary="geometric"
        ),
        MeasureKind("recall", True, "needed", "share of the relevant documents that are found"),
        MeasureKind("success", True, "needed", "whether a relevant document is found (hit rate)"),
        MeasureKind("precision", True, "needed", "share of the first k places that are relevant (P@k)"),
        MeasureKind("rprec", True, "", "precision at the number of relevant documents"),
        MeasureKind("bpref", True, "", "relevant documents above judged irrelevant ones"),
        MeasureKind("iprec", True, "recall", "best precision with so much recall or more"),
        MeasureKind("rbp", True, "", "rank-biased precision", True, engine=False),
        MeasureKind("rbp_graded", False, "", "rank-biased precision, gain by grade", True, engine=False),
        *(
            MeasureKind(f"set_{name}", True, "", about, engine=False)
            for name, about in {
                "precision": "share of the list that is relevant",
                "recall": "share of the relevant documents in the list",
                "f1": "harmonic mean of set_precision and set_recall",
            }.items()
        ),
        MeasureKind("judged", False, "needed", "share of the documents that are judged", engine=False),
        *(
            MeasureKind(f"num_{name}", True, "", about, engine=False, summary="total")
            for name, about in {
                "ret": "total of returned documents",
                "rel": "total of relevant documents",
                "rel_ret": "total of relevant documents that were returned",
            }.items()
        ),
        *(
            MeasureKind(name, name != "evidence_ndcg", "needed", about, engine=False, of_chunks=True)
            for name, about in {
                "evidence_recall": "share of the evidence's characters that chunks hold",
                WITHIN: "share of the evidence in the first so many words of the chunks",
                "evidence_precision": "share of the chunks' characters that are evidence",
                "evidence_iou": "intersection over union of evidence and chunks",
                "evidence_hit": "whether a chunk holds evidence",
                "evidence_mrr": "1 / rank of the first chunk with evidence",
                "evidence_ndcg": "nDCG, gain is the grade × share of the document's evidence",
                CONTEXT: "words of the chunks, which a language model has to read",
            }.items()
        ),
    )
}


class Measure(NamedTuple):
    """One measure.

    Attributes
    ----------
    depth: None is the whole list.
    persistence: of rbp and rbp_graded.  recall: the level of iprec.
    """

    kind: str
    depth: int | None = None
    persistence: float | None = None
    recall: float | None = None

    @property
    def name(self) -> str:
        """As users write it: ndcg_exp@10, map, rbp(0.8), iprec@0.1."""
        depth = self.depth if self.recall is None else self.recall
        bracketed = "" if self.persistence is None else f"({self.persistence:g})"
        return f"{self.kind}{bracketed}" + ("" if depth is None else f"@{depth:g}")

    @property
    def binary(self) -> bool:
        """Whether a threshold says which documents are relevant."""
        return KINDS[self.kind].binary

    @property
    def about(self) -> str:
        """What it computes, in a few words."""
        return KINDS[self.kind].about

    @property
    def by_engine(self) -> bool:
        """Whether trec_eval has it, and `evaluation.scoring.measure_values` computes it."""
        return KINDS[self.kind].engine

    @property
    def summary(self) -> Summary:
        """What its figure is of the values of queries."""
        return KINDS[self.kind].summary

    @property
    def of_chunks(self) -> bool:
        """Whether it is of chunks, not of documents."""
        return KINDS[self.kind].of_chunks

    @property
    def compares(self) -> bool:
        """Whether it says, query by query, which of two systems is better."""
        return self.summary == "mean" and self.kind not in ("judged", CONTEXT)


def measures_named(names: Iterable[str]) -> tuple[Measure, ...]:
    """The measures of these names, each once, in their order.

    Raises
    ------
    InputError: names that are no measures, all together; or no name.
    """
    measures: dict[Measure, None] = {}
    problems = []
    for name in names:
        measure = _read(name)
        if isinstance(measure, str):
            problems.append(measure)
        else:
            measures[measure] = None
    if not measures and not problems:
        problems = ["no measure was named: expected at least one, such as ndcg_exp@10,recall@100"]
    refuse_problems(problems, way_out=f"Measures: {', '.join(map(_pattern, KINDS.values()))}.")
    return tuple(measures)


def measures_for(
    grades: Sequence[int], names: Iterable[str] | None = None, default: Sequence[str] = DEFAULT_MEASURES
) -> tuple[Measure, ...]:
    """The measures asked for, or the default ones that the scale allows.

    Parameters
    ----------
    grades: of the scale.

    Raises
    ------
    InputError: names that are no measures, an exponential gain of grades above `MAX_GAIN`, or a total as the
        first one, by which systems are compared.
    """
    highest = max(grades, default=0)
    if names is None:
        usual = measures_named(default)
        return tuple(measure for measure in usual if measure.kind not in EXPONENTIAL or highest <= MAX_GAIN)
    chosen = measures_named(names)
    exponential = [measure.name for measure in chosen if measure.kind in EXPONENTIAL and highest > MAX_GAIN]
    refuse_problems(
        [f"{name} has the gain 2^grade − 1, and the scale goes up to {highest}" for name in exponential],
        way_out=f"It can be computed for grades up to {MAX_GAIN}; take ndcg@k, whose gain is the grade.",
    )
    if chosen[0].summary == "total":
        raise InputError(
            f"{chosen[0].name} is the first measure, and it is a total: charts and tables by kind of query "
            "show the first measure, and expect a mean.",
            command="Name another one before it, such as ndcg_exp@10.",
        )
    return chosen


def further_measures(grades: Sequence[int]) -> tuple[str, ...]:
    """The names of `FURTHER_MEASURES` that the scale allows."""
    gains = max(grades, default=0) <= MAX_GAIN
    return tuple(
        measure.name
        for measure in measures_named(FURTHER_MEASURES)
        if gains or measure.kind not in EXPONENTIAL
    )


def _read(name: str) -> Measure | str:
    """The measure, or what is wrong with its name."""
    match = _NAME.fullmatch(name.strip().lower().replace("-", "_"))
    kind = KINDS.get(_ALIASES.get(match[1], match[1])) if match else None
    if match is None or kind is None:
        return f"{name!r} is no measure"
    bracketed, depth = match[2], match[3]
    if kind.persistence:
        return _rbp(name, kind.name, bracketed, depth)
    if bracketed is not None:
        return f"{name!r}: {kind.name} takes no number in brackets"
    if kind.depth == "recall":
        return _iprec(name, depth)
    if depth is None:
        return (
            f"{name!r} needs a depth, such as {kind.name}@10"
            if kind.depth == "needed"
            else Measure(kind.name)
        )
    if not kind.depth:
        return f"{name!r}: {kind.name} has no depth"
    if not depth.isdecimal() or not 1 <= int(depth) <= DEEPEST:
        return f"{name!r}: expected a depth from 1 to {DEEPEST:,}"
    return Measure(kind.name, int(depth))


def _rbp(name: str, kind: str, persistence: str | None, depth: str | None) -> Measure | str:
    value = PERSISTENCE if persistence is None else _number(persistence)
    if depth is not None:
        return f"{name!r}: {kind} has no depth; the persistence says how far down it looks"
    if value is None or not 0 < value < 1:
        return f"{name!r}: expected a persistence between 0 and 1, such as {kind}(0.8)"
    return Measure(kind, persistence=value)


def _iprec(name: str, level: str | None) -> Measure | str:
    value = None if level is None else _number(level)
    if value is None or not 0 <= value <= 1 or round(value, 2) != value:
        return (
            f"{name!r}: expected a level of recall from 0 to 1 with two decimals at most, such as iprec@0.1"
        )
    return Measure("iprec", recall=value)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _pattern(kind: MeasureKind) -> str:
    name = f"{kind.name}({PERSISTENCE:g})" if kind.persistence else kind.name
    return {"needed": f"{name}@k", "possible": f"{name}[@k]", "recall": f"{name}@0.1"}.get(kind.depth, name)


def averaged(measure: Measure, values: Floats) -> Floats:
    """What of each query is averaged; NaN for a total, which is no mean."""
    if measure.summary == "total":
        return np.full(values.shape, np.nan)
    if measure.summary == "geometric":
        return 1 - np.log(np.maximum(values, FLOOR)) / log(FLOOR)
    return values


def of_mean(measure: Measure, mean: float) -> float:
    """The figure that belongs to a mean of what is averaged."""
    return float(FLOOR ** (1 - mean)) if measure.summary == "geometric" else mean


def summary_of(measure: Measure, values: Floats) -> float | None:
    """The figure of the queries that have a value, None without any; a total of documents is whole."""
    if measure.summary != "total":
        mean = mean_of(averaged(measure, values))
        return None if mean is None else of_mean(measure, mean)
    defined = values[~np.isnan(values)]
    total = float(defined.sum())
    return (int(total) if total.is_integer() else total) if len(defined) else None


def mean_of(values: Floats) -> float | None:
    """The mean of those that are defined, None without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None
