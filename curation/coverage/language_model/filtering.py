"""C(q) filtered by a language model: which of the entities that a query was matched to it is about.

As in Klearman et al. (2026) the candidates are found by meaning and a model keeps those that the query names,
implies or needs for its answer, and not those that are merely adjacent. One call a query has the names of the
candidates. Answers are stored and read as all others. Queries without one follow the offline rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curation.coverage.clusters import EntityMatch
from curation.coverage.language_model.answers import (
    MalformedAnswerError,
    ModelCall,
    load_prompt,
    read_answers,
    read_object,
)
from curation.coverage.phrases import Entity
from curation.store import Cursor

PROMPT = "about"


def filter_calls(
    texts: Iterable[str], matches: Mapping[str, EntityMatch], entities: Sequence[Entity], model: str
) -> dict[str, ModelCall]:
    """Text → the call that asks what it is about; texts that were matched to nothing need none."""
    prompt = load_prompt(PROMPT)
    named = {text: [entities[place].name for place in matches[text].entities] for text in texts}
    return {
        text: ModelCall(model, prompt, {"entities": names, "query": text})
        for text, names in named.items()
        if names
    }


def read_kept(answer: str) -> list[str]:
    """The names that an answer keeps.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    kept = read_object(answer).get("kept")
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise MalformedAnswerError("an answer without a list of the entities that are kept")
    return kept


def with_kept(
    cursor: Cursor, matches: Mapping[str, EntityMatch], entities: Sequence[Entity], model: str
) -> dict[str, EntityMatch]:
    """The matches with what the model kept of them, where it has answered; other names are passed over."""
    calls = filter_calls(matches, matches, entities, model)
    known = read_answers(cursor, [*calls.values()])
    found = dict(matches)
    for text, call in calls.items():
        if (answer := known.answer(call)) is not None:
            kept, match = set(read_kept(answer)), matches[text]
            places = tuple(place for place in match.entities if entities[place].name in kept)
            found[text] = match._replace(kept=places)
    return found
