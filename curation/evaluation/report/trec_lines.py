"""The output format of trec_eval, filled with a system's values.

Each line of values has a measure, a query and a value; the lines for all queries together come last. Measures
have trec_eval's names, such as `ndcg_cut_10`; a measure that trec_eval lacks keeps goldgrade's name, such as
`mrr@10`. A query without a value in a measure, such as a query without a relevant document, has no line for
that measure. A query that the run misses has 0, as with trec_eval's option -c. Ids have no white space, as in
exports for TREC.
"""

from __future__ import annotations

from collections.abc import Iterator

from curation.core.characters import show_controls
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.scoring.measure_names import Measure, parse_measures
from curation.releases.export.trec import encode_ids

_TREC_NAMES = {
    **{"rprec": "Rprec", "bpref": "bpref"},
    **{"set_precision": "set_P", "set_recall": "set_recall", "set_f1": "set_F"},
}
_AT_DEPTH = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall", "success": "success"}
_LIST_NAMES = {"ndcg": "ndcg", "map": "map", "mrr": "recip_rank"}


def to_trec_name(measure: Measure) -> str:
    """Return trec_eval's name for a measure, or goldgrade's name if trec_eval lacks the measure."""
    if measure.depth is not None:
        name = _AT_DEPTH.get(measure.kind)
        return f"{name}_{measure.depth}" if name else measure.name
    return (_TREC_NAMES | _LIST_NAMES).get(measure.kind, measure.name)


def write_trec_lines(evaluation: Evaluation, system: EvaluatedSystem) -> Iterator[str]:
    """Yield one system's lines, each with its line feed; a sealed part has no lines by query."""
    names = {measure.name: to_trec_name(measure) for measure in parse_measures(evaluation.measures)}
    query_count = 0
    exported_ids = encode_ids(evaluation.query_ids or ())
    for index, query in enumerate(evaluation.query_ids or ()):
        values = {name: (system.per_query or {})[name][index] for name in evaluation.measures}
        lines = []
        for name, value in values.items():
            if value is not None:
                lines.append(_write_value(names[name], exported_ids[query], value))
        query_count += bool(lines)
        yield from lines
    yield _format_line("runid", "all", " ".join(show_controls(system.name).split()))
    yield _format_line("num_q", "all", str(query_count))
    for name in evaluation.measures:
        value = system.overall[name].value
        if value is not None:
            yield _write_value(names[name], "all", value)


def _write_value(name: str, query: str, value: float) -> str:
    return _format_line(name, query, f"{value:6.4f}")


def _format_line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"
