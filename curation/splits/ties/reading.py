"""Keys, times and embeddings of the queries, read or computed only as far as the rules ask for them."""

from __future__ import annotations

from dataclasses import replace

from curation.errors import InputError
from curation.progress import Progress, silent
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties.paraphrase import query_vectors
from curation.splits.ties.same_key import read_keys
from curation.splits.ties.same_time import read_times
from curation.store import Store


def with_tie_data(
    store: Store, inputs: SplitInputs, rules: Rules, progress: Progress = silent, dated: bool = False
) -> SplitInputs:
    """The inputs with the keys, times (also where `dated`) and embeddings that the rules ask for.

    Raises
    ------
    InputError: no query or relevant document has a key, or no query a time, that is asked for.
    RefusedError: embeddings are missing and the model is not available.
    """
    if rules.keys or rules.time_block is not None or dated:
        with store.reading() as cursor:
            keys = read_keys(cursor, inputs, rules.keys)
            times = read_times(cursor, inputs) if rules.time_block is not None or dated else {}
        if rules.time_block is not None and not times:
            raise InputError(
                "Queries cannot be tied by time: the traffic has no time of any of these.",
                command="`goldset import traffic --time-field` imports times.",
            )
        inputs = replace(
            inputs, keys={name: frozenset(found) for name, found in sorted(keys.items())}, times=times
        )
    if rules.paraphrase is None:
        return inputs
    vectors = query_vectors(store, inputs.queries, rules.model, progress, rules.numbers)
    return replace(inputs, vectors=vectors)
