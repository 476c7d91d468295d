"""The call that asks a language model to grade a pair, and the parsing of the model's answer.

The prompt of a call has the rules and the guide. Query and document are the call's material, which is sent as
JSON in a message of its own, so that a document cannot end its own text and go on as an instruction.

A judge is asked for some pairs twice. The second call has grades and examples in reverse order, and a shorter
cut of a long document.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from curation.core.characters import normalise_query
from curation.core.words import split_words
from curation.guides.guide import Guide
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, draw_by_guide
from curation.labeling.presentation.markup import INLINE, Element, Node
from curation.labeling.session.texts import ItemText
from curation.queries.coverage.language_model import answers
from curation.queries.coverage.language_model.answers import MAX_TEXT_LENGTH, ModelCall
from curation.queries.coverage.language_model.prompting import MalformedAnswerError, load_prompt, read_object

PROMPT = "judge"
SECOND_CUT = 3 / 4
"""Length of a long document in the second call, as a share of its length in the first call."""
MAX_REASON_LENGTH = 500
UNCLEAR = "the judge says that nobody could tell"
NO_GRADE = "the answer has no grade of the scale"


class JudgeAnswer(NamedTuple):
    """A judge's answer about a query-document pair: the grade, quotes, and why a grade is missing.

    Attributes
    ----------
    grade: None for cannot-tell. reason: the judge's reason, or why there is no grade.
    quotes, unfound: number of quotes, and of quotes that the document does not contain.
    instructions: whether the judge quoted a passage that tries to influence the grade.
    """

    grade: int | None
    reason: str
    quotes: int = 0
    unfound: int = 0
    instructions: bool = False


def make_judge_prompt(
    guide: Guide, sealed_texts: Collection[str], extra: str = "", again: bool = False
) -> str:
    """Make the prompt from a guide; `again` reverses the order of grades and examples.

    Parameters
    ----------
    sealed_texts: normalised texts of sealed queries, whose examples are left out.
    extra: further instructions of the project.
    """
    order = -1 if again else 1
    scale, examples = [], []
    for grade in guide.scale[::order]:
        scale.append({"grade": grade.value, "name": grade.name, "definition": grade.definition})
        for example in grade.examples[::order]:
            if normalise_query(example.query) not in sealed_texts:
                examples.append({**example.model_dump(), "grade": grade.value})
    content: dict[str, Any] = {
        "title": guide.title,
        "scale": scale,
        "rules": guide.body,
        "examples": examples,
    }
    if guide.evidence is not None:
        content["evidence"] = f"{guide.evidence.ask} from grade {guide.evidence.from_grade} on"
    parts = [load_prompt(PROMPT).strip(), json.dumps(content, ensure_ascii=False, indent=1), extra.strip()]
    return "\n\n".join(filter(None, parts))


def make_pair_call(
    prompt: str, model: str, text: ItemText, guide: Guide, seed: int, again: bool = False
) -> tuple[ModelCall, int]:
    """Make the call about a pair; also return how many characters of the document it leaves out."""
    longest = int(MAX_TEXT_LENGTH * (SECOND_CUT if again else 1))
    drawn = draw_by_guide(text.document, text.query, guide, NO_IMAGE_HOSTS, longest, text.matched)
    fields = [": ".join(filter(None, (label, _join_text(value)))) for label, value in drawn.facts or ()]
    fields += [value for value in (drawn.url, drawn.published) if value]
    document = {"title": _join_text(drawn.title), "text": _join_text(drawn.passage), "fields": fields}
    material = {"document": document, "need": text.information_need or "", "query": text.query}
    cut = max(0, len(text.document.body) - longest) if drawn.has_more else 0
    return ModelCall(model, prompt, material, _make_settings(guide.values, seed)), cut


def check_answer(answer: str) -> None:
    """Check that an answer contains a JSON object; otherwise the model is asked again.

    Raises
    ------
    MalformedAnswerError: the answer has no JSON object, or none without repeated names.
    """
    read_object(answer)


def read_judge_answer(
    call: ModelCall, stored: answers.StoredAnswers, scale: Sequence[int]
) -> JudgeAnswer | None:
    """Read the stored answer to a call; None if the model has not been asked yet.

    An answer without a grade of the scale means cannot-tell.
    """
    text = stored.find_answer(call)
    if text is None:
        reason = stored.explain_no_answer(call)
        return None if reason is None else JudgeAnswer(None, reason)
    try:
        parsed = read_object(text)
    except MalformedAnswerError as error:
        return JudgeAnswer(None, f"{answers.MALFORMED}: {error}")
    document = call.material["document"]
    source = split_words("\n".join((document["title"], document["text"], *document["fields"])))
    given = parsed.get("quotes")
    quotes = [quote for quote in (given if isinstance(given, list) else []) if str(quote).strip()]
    found = [quote for quote in quotes if _is_in(quote, source)]
    grade, reason = parsed.get("grade"), " ".join(str(parsed.get("reason") or "").split())
    if type(grade) is not int or grade not in scale:
        grade, reason = None, UNCLEAR if grade is None and "grade" in parsed else NO_GRADE
    return JudgeAnswer(
        grade,
        reason[:MAX_REASON_LENGTH],
        len(quotes),
        len(quotes) - len(found),
        _is_in(parsed.get("instructions"), source),
    )


def _make_settings(scale: Sequence[int], seed: int) -> dict[str, Any]:
    """Make the settings of a call to the model: temperature 0, a seed, and a JSON schema for the answer."""
    text = {"type": "string"}
    fields: dict[str, Any] = {
        "instructions": text,
        "reason": text,
        "quotes": {"type": "array", "items": text},
    }
    fields["grade"] = {"anyOf": [{"type": "integer", "enum": list(scale)}, {"type": "null"}]}
    schema = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "grade", "strict": True, "schema": schema}}
    return {"temperature": 0, "seed": seed, "response_format": form}


def _is_in(quote: Any, source: Sequence[str]) -> bool:
    """Return whether a quote's words occur in a text in the same order."""
    words = split_words(quote) if isinstance(quote, str) else []
    return bool(words) and f" {' '.join(words)} " in f" {' '.join(source)} "


def _join_text(nodes: Sequence[Node]) -> str:
    """Join the text of the document elements that annotators see, with one line per block."""
    pieces = []
    for node in nodes:
        if isinstance(node, Element):
            pieces.append(_join_text(node.children) + ("" if node.name in INLINE else "\n"))
        else:
            pieces.append(node.text)
    return "".join(pieces)
