"""C(q) filtered by a language model: which of the entities that a query was matched to it is about.

As in Klearman et al. (2026) the candidates are found by meaning and a model keeps those that the query names,
implies or needs for its answer, and not those that are merely adjacent. One call a query has the names of the
candidates. Answers are stored and read as all others. Queries without one follow the offline rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from curation.queries.coverage.asked import AskedOfCorpus
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.language_model.answers import ModelCall, read_answers
from curation.queries.coverage.language_model.prompts import load_prompt, read_list
from curation.queries.coverage.stored_map import write_kept
from curation.store import Store

PROMPT = "about"


def filter_settings(model: str) -> dict[str, str]:
    """What a map has among its parameters where this model says what queries are about."""
    return {"model": model, "prompt": load_prompt(PROMPT).prompt_hash}


def filter_calls(coverage_map: CoverageMap, asked: AskedOfCorpus, model: str) -> dict[str, ModelCall]:
    """Text of a query → the call that asks what it is about; those that were matched to nothing need none."""
    named = {
        query.normalised: [
            coverage_map.entities[place].name for place in asked.matches[query.normalised].entities
        ]
        for query in asked.queries
    }
    return {
        text: ModelCall(model, load_prompt(PROMPT), {"entities": names, "query": text})
        for text, names in named.items()
        if names
    }


def read_kept(answer: str) -> list[str]:
    """The names that an answer keeps.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    return read_list(answer, "kept", str)


def keep_entities(
    store: Store, coverage_map: CoverageMap, asked: AskedOfCorpus, calls: Mapping[str, ModelCall]
) -> None:
    """Store with the map what the model has answered; names that it was not given are passed over."""
    with store.transaction(appends=True) as cursor:
        known = read_answers(cursor, [*calls.values()])
        answers = {text: known.answer(call) for text, call in calls.items()}
        kept = {text: set(read_kept(answer)) for text, answer in answers.items() if answer is not None}
        places = {
            text: [
                place for place in asked.matches[text].entities if coverage_map.entities[place].name in names
            ]
            for text, names in kept.items()
        }
        write_kept(cursor, coverage_map.map_id, places)
