"""Values of single queries as `trec_eval -q` prints them: measure, query, value; then those of all queries.

Measures have trec_eval's names, such as `ndcg_cut_10`; those that it lacks keep ours, such as `mrr@10`. A
query without a value in a measure, such as one without a relevant document, has no line of it. A query that
the run misses has 0, as with trec_eval's option -c. Ids have no white space, as in exports for TREC.
"""

from __future__ import annotations

from collections.abc import Iterator

from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.metrics.measures import Measure, measures_named
from curation.releases.export.formats.trec import without_space
from curation.text import printable

_SAME = {
    **{"rprec": "Rprec", "gmap": "gm_map", "set_precision": "set_P", "set_f1": "set_F"},
    **{name: name for name in ("bpref", "set_recall", "num_ret", "num_rel", "num_rel_ret")},
}
_CUT = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall", "success": "success"}
_WHOLE = {"ndcg": "ndcg", "map": "map", "mrr": "recip_rank"}
_OF_ALL = ("gm_map",)
"""Printed of all queries alone."""


def trec_name(measure: Measure) -> str:
    """What trec_eval calls a measure; our own name where it has none."""
    if measure.depth is not None:
        return f"{_CUT[measure.kind]}_{measure.depth}" if measure.kind in _CUT else measure.name
    if measure.kind == "iprec":
        return f"iprec_at_recall_{measure.recall:.2f}"
    return (_SAME | _WHOLE).get(measure.kind, measure.name)


def trec_lines(found: Evaluation, system: EvaluatedSystem) -> Iterator[str]:
    """The lines of one system, each with its line feed; of a sealed part there are none by query."""
    names = {measure.name: trec_name(measure) for measure in measures_named(found.measures)}
    printed = 0
    exported = without_space(found.query_ids or ())
    for place, query in enumerate(found.query_ids or ()):
        values = {name: (system.per_query or {})[name][place] for name in found.measures}
        lines = [
            _line(names[name], exported[query], value)
            for name, value in values.items()
            if value is not None and names[name] not in _OF_ALL
        ]
        printed += bool(lines)
        yield from lines
    yield _text("runid", "all", " ".join(printable(system.name).split()))
    yield _text("num_q", "all", str(printed))
    for name in found.measures:
        value = system.overall[name].value
        if value is not None:
            yield _line(names[name], "all", value)


def _line(name: str, query: str, value: float) -> str:
    return _text(name, query, f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}")


def _text(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"
