"""Measures by name, such as `ndcg_exp@10`, with their depth and parameters.

    ndcg_exp@k    nDCG with the gain 2^grade − 1 (Burges et al. 2005, ICML): the default headline
    ndcg@k        nDCG with the grade itself as gain, as trec_eval computes it (Järvelin & Kekäläinen 2002)
    err@k         expected reciprocal rank of a reader who stops when satisfied (Chapelle et al. 2009, CIKM)
    mrr@k         1 / rank of the first relevant document, 0 below rank k
    map           average precision over the whole list, or to depth k (`map@k`)
    recall@k      share of the relevant documents that are among the first k
    success@k     whether a relevant document is among the first k (hit rate; some texts call it Recall@k)
    precision@k   share of the first k places that hold relevant documents
    rprec         precision at the number of relevant documents
    bpref         how often a relevant document is above judged irrelevant ones (Buckley & Voorhees 2004)
    rbp(p)        rank-biased precision with the persistence p (Moffat & Zobel 2008)
    rbp_graded(p) the same with gains by grade (Sakai & Kando 2008)
    set_precision, set_recall, set_f1
                  of the whole list as a set, without an order
    judged@k      share of the documents among the first k that are judged
    evidence_recall@k, evidence_precision@k, evidence_iou@k, evidence_hit@k, evidence_mrr@k, evidence_ndcg@k
                  of the characters that people marked as evidence, in the first k chunks
    evidence_within@w
                  recall of evidence in the first w words of the list's chunks
    context_words@k
                  words of the first k chunks; for all of these see `evaluation.scoring.chunk_measures`

ndcg_exp, ndcg, err and mrr without a depth look at the whole list. The package that ir-measures calls for err
takes 4 as the highest grade and stops at rank 20. ir-measures breaks ties for judged@k by a different rule
than for its other measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from curation.core.errors import refuse_problems
from curation.core.text import suggest

HEADLINE = "ndcg_exp@10"
MAX_GAIN = 16
"""Highest grade with an exponential gain; above it, one document would hide the gains of all others."""
EXPONENTIAL = ("ndcg_exp", "err")
"""Kinds of measures with the gain 2^grade − 1."""
CONTEXT, WITHIN = "context_words", "evidence_within"
PERSISTENCE = 0.8
MAX_DEPTH = 100_000
DEFAULT_MEASURES = (
    *(HEADLINE, "ndcg@10", "mrr@10", "map", "recall@10", "success@10", "precision@10"),
    *("rprec", "bpref", "rbp(0.8)", "judged@10"),
)
CHUNK_MEASURES = (
    *(f"{WITHIN}@1000", "evidence_recall@5", "evidence_precision@5", "evidence_iou@5", "evidence_hit@5"),
    *("evidence_mrr@5", "evidence_ndcg@5", f"{CONTEXT}@5", HEADLINE, "mrr@10", "recall@10", "judged@10"),
)
"""Default measures if a run has chunks and the release has evidence."""
ADDITIONAL_MEASURES = (
    *("ndcg_exp", "ndcg", "mrr", "err@10", "rbp_graded(0.8)"),
    *("set_precision", "set_recall", "set_f1"),
)
"""One measure of each kind, besides the defaults, that needs neither chunks nor evidence."""
_NAME = re.compile(r"(set_?f1|[a-z_]+?)(?:\((?:[a-z]+=)?([0-9.]+)\))?(?:[@_.]([0-9.]+))?")
_ALIASES = {
    **{"hit": "success", "hit_rate": "success", "p": "precision", "r": "recall", "rr": "mrr", "ap": "map"},
    **{"ndcg_cut": "ndcg", "map_cut": "map", "recip_rank": "mrr"},
    **{"set_p": "set_precision", "set_f": "set_f1"},
    **{"setp": "set_precision", "setr": "set_recall", "setf": "set_f1", "setf1": "set_f1"},
    **{"context_tokens": CONTEXT},
}
"""Names of measures in trec_eval, ir-measures and others, without their numbers."""


class MeasureKind(NamedTuple):
    """A family of measures, such as recall at any depth.

    Attributes
    ----------
    binary: whether the measure takes documents as relevant from a threshold on; other measures use the
        grades.
    takes: 'depth' (required), 'depth?' (optional), 'persistence' (in brackets), or ''.
    source: trec_eval's definition, goldgrade's for documents, or goldgrade's for chunks (`chunk_measures`).
    """

    name: str
    binary: bool
    takes: Literal["depth", "depth?", "persistence", ""]
    about: str
    source: Literal["trec_eval", "documents", "chunks"] = "trec_eval"


KINDS = {
    kind.name: kind
    for kind in (
        MeasureKind("ndcg_exp", False, "depth?", "nDCG, gain 2^grade − 1"),
        MeasureKind("ndcg", False, "depth?", "nDCG; the gain is the grade, as in trec_eval"),
        MeasureKind("err", False, "depth?", "expected reciprocal rank of a satisfied reader", "documents"),
        MeasureKind("mrr", True, "depth?", "1 / rank of the first relevant document"),
        MeasureKind("map", True, "depth?", "average precision"),
        MeasureKind("recall", True, "depth", "share of the relevant documents that are found"),
        MeasureKind("success", True, "depth", "whether a relevant document is found (hit rate)"),
        MeasureKind("precision", True, "depth", "share of the first k places that are relevant (P@k)"),
        MeasureKind("rprec", True, "", "precision at rank R, where R is the number of relevant documents"),
        MeasureKind("bpref", True, "", "how far relevant documents rank above judged irrelevant documents"),
        MeasureKind("rbp", True, "persistence", "rank-biased precision", "documents"),
        MeasureKind(
            "rbp_graded",
            False,
            "persistence",
            "rank-biased precision; the gain depends on the grade",
            "documents",
        ),
        MeasureKind("set_precision", True, "", "share of the list that is relevant", "documents"),
        MeasureKind("set_recall", True, "", "share of the relevant documents in the list", "documents"),
        MeasureKind("set_f1", True, "", "harmonic mean of set_precision and set_recall", "documents"),
        MeasureKind("judged", False, "depth", "share of the documents that are judged", "documents"),
        *(
            MeasureKind(name, name != "evidence_ndcg", "depth", about, "chunks")
            for name, about in {
                "evidence_recall": "share of the evidence's characters that chunks contain",
                WITHIN: "share of the evidence in the first words of the chunks",
                "evidence_precision": "share of the chunks' characters that are evidence",
                "evidence_iou": "intersection over union of evidence and chunks",
                "evidence_hit": "whether a chunk contains evidence",
                "evidence_mrr": "1 / rank of the first chunk with evidence",
                "evidence_ndcg": "nDCG; the gain is the grade × the share of the document's evidence",
                CONTEXT: "words in the chunks, which a language model must read",
            }.items()
        ),
    )
}


class Measure(NamedTuple):
    """A measure with its depth and parameters, such as ndcg_exp@10.

    Attributes
    ----------
    depth: how many documents, chunks or words of a list count; None is the whole list.
    persistence: the parameter of rbp and rbp_graded.
    """

    kind: str
    depth: int | None = None
    persistence: float | None = None

    @property
    def name(self) -> str:
        """Return the measure's name as users write it: ndcg_exp@10, map, rbp(0.8)."""
        bracketed = "" if self.persistence is None else f"({self.persistence:g})"
        return f"{self.kind}{bracketed}" + ("" if self.depth is None else f"@{self.depth}")

    @property
    def binary(self) -> bool:
        """Return whether a grade threshold decides which documents are relevant."""
        return KINDS[self.kind].binary

    @property
    def about(self) -> str:
        """Return the measure's definition in a few words."""
        return KINDS[self.kind].about

    @property
    def is_trec_eval(self) -> bool:
        """Return whether the measure is defined as in trec_eval (`trec_eval_measures`)."""
        return KINDS[self.kind].source == "trec_eval"

    @property
    def of_chunks(self) -> bool:
        """Return whether the measure scores chunks rather than documents."""
        return KINDS[self.kind].source == "chunks"

    @property
    def compares(self) -> bool:
        """Return whether two systems can be compared by the measure query by query."""
        return self.kind not in ("judged", CONTEXT)


def parse_measures(names: Iterable[str]) -> tuple[Measure, ...]:
    """Parse the names of measures, and return each measure once, in the given order.

    Raises
    ------
    InputError: names that are not measures, all in one error; or an empty list of names.
    """
    measures: dict[Measure, None] = {}
    problems = []
    for name in names:
        measure = _parse_measure(name)
        if isinstance(measure, str):
            problems.append(measure)
        else:
            measures[measure] = None
    if not measures and not problems:
        problems = ["name at least one measure, such as ndcg_exp@10,recall@100"]
    refuse_problems(problems, way_out=f"Measures: {', '.join(map(_name_pattern, KINDS.values()))}.")
    return tuple(measures)


def choose_measures(
    grades: Sequence[int], names: Iterable[str] | None = None, default: Sequence[str] = DEFAULT_MEASURES
) -> tuple[Measure, ...]:
    """Return the requested measures, or the default measures allowed by the scale.

    Parameters
    ----------
    grades: the grades of the scale.

    Raises
    ------
    InputError: names that are not measures, or an exponential gain of grades above `MAX_GAIN`.
    """
    highest = max(grades, default=0)
    if names is None:
        defaults = parse_measures(default)
        if highest <= MAX_GAIN:
            return defaults
        return tuple(measure for measure in defaults if measure.kind not in EXPONENTIAL)
    chosen = parse_measures(names)
    exponential = [measure.name for measure in chosen if measure.kind in EXPONENTIAL and highest > MAX_GAIN]
    refuse_problems(
        [f"{name} has the gain 2^grade − 1, and the scale goes up to {highest}" for name in exponential],
        way_out=f"This gain works for grades up to {MAX_GAIN}; use ndcg@k, whose gain is the grade.",
    )
    return chosen


def list_additional_measures(grades: Sequence[int]) -> tuple[str, ...]:
    """Return the names in `ADDITIONAL_MEASURES` of the measures that a grade scale allows."""
    return tuple(measure.name for measure in choose_measures(grades, None, ADDITIONAL_MEASURES))


def _parse_measure(name: str) -> Measure | str:
    """Parse a measure's name, or return a sentence that explains what is wrong with the name."""
    match = _NAME.fullmatch(name.strip().lower().replace("-", "_"))
    kind = KINDS.get(_ALIASES.get(match[1], match[1])) if match else None
    if match is None or kind is None:
        base = re.split(r"[@(]", name)[0]
        return f"{name!r} is not a measure{suggest(base, KINDS, name.removeprefix(base))}"
    bracketed, depth = match[2], match[3]
    if kind.takes == "persistence":
        return _parse_persistence(name, kind.name, bracketed, depth)
    if bracketed is not None:
        return f"{name!r}: {kind.name} takes no number in brackets"
    if depth is None:
        missing = f"{name!r} needs a depth, such as {kind.name}@10"
        return missing if kind.takes == "depth" else Measure(kind.name)
    if not kind.takes:
        return f"{name!r}: {kind.name} has no depth"
    if not depth.isdecimal() or not 1 <= int(depth) <= MAX_DEPTH:
        return f"{name!r}: expected a depth from 1 to {MAX_DEPTH:,}"
    return Measure(kind.name, int(depth))


def _parse_persistence(name: str, kind: str, persistence: str | None, depth: str | None) -> Measure | str:
    value = PERSISTENCE if persistence is None else _parse_number(persistence)
    if depth is not None:
        return f"{name!r}: {kind} takes no depth; its persistence sets how far down the list it looks"
    if value is None or not 0 < value < 1:
        return f"{name!r}: expected a persistence between 0 and 1, such as {kind}(0.8)"
    return Measure(kind, persistence=value)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _name_pattern(kind: MeasureKind) -> str:
    suffix = {"depth": "@k", "depth?": "[@k]", "persistence": f"({PERSISTENCE:g})"}
    return kind.name + suffix.get(kind.takes, "")
