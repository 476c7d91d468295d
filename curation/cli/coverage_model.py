"""`goldset coverage` where a language model takes part: what it would send, and what it sent."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, progress_bar
from curation.text import amount

if TYPE_CHECKING:
    from curation.coverage.language_model.answers import ModelSpending, ModelWork
    from curation.coverage.phrases import Extractor
    from curation.store import Store


class ExtractorName(StrEnum):
    """What finds the entities."""

    phrases = "phrases"
    llm = "llm"


ExtractorOption = Annotated[
    ExtractorName, typer.Option(help="What finds entities: phrases, offline, or a language model.")
]
Send = Annotated[
    bool,
    typer.Option(
        "--send", help="Send texts to the language model of GOLDSET_LLM_URL. Without it nothing is sent."
    ),
]
MostCalls = Annotated[
    int | None,
    typer.Option("--calls", min=1, help="Requests to send at most in this run.", show_default="all"),
]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="Calls that are under way at once.")]


def model_extractor(
    store: Store, send: bool, most_calls: int | None, parallel: int, as_json: bool
) -> tuple[Extractor, ModelSpending | None] | None:
    """The extractor that reads the model's answers, and what was sent for it now.

    None: answers are lacking and nothing may be sent; what would be sent is printed.
    """
    from curation.coverage.language_model.answers import Asking
    from curation.coverage.language_model.candidates import (
        LONGEST_TEXT,
        ModelExtractor,
        ask_about_documents,
        plan_documents,
    )
    from curation.coverage.language_model.chat import find_endpoint, model_name, prices_set

    name = model_name()
    work, cut = plan_documents(store, name, prices_set())
    sentence = f"{name}: {work_sentence(work)}"
    if cut:
        sentence += (
            f" Of long documents only the first {LONGEST_TEXT:,} characters are sent, without {cut:,} others."
        )
    if work.calls and not send:
        emit(as_json, {"model": name, "would_send": work, "cut": cut}, f"{sentence} {NOT_SENT}")
        return None
    spent = None
    if work.calls:
        asking = Asking(find_endpoint(), most_calls, parallel)
        note(sentence)
        with progress_bar() as progress:
            spent = ask_about_documents(store, asking, progress)
        note(*spending_sentences(spent))
    return ModelExtractor(store, name), spent


NOT_SENT = "Nothing was sent: give --send to send it."


def note(*sentences: str) -> None:
    """Sentences next to the result, on standard error."""
    for sentence in sentences:
        typer.echo(sentence, err=True)


def work_sentence(work: ModelWork) -> str:
    """What would be sent."""
    price = "" if work.price is None else f", at least {work.price:.4f} by the prices set"
    return (
        f"{amount(work.calls, 'call')} to make, which read about {work.tokens:,} tokens{price}; "
        f"{work.stored:,} "
        "answered before."
    )


def spending_sentences(spent: ModelSpending) -> list[str]:
    """What was sent, and what came of it."""
    price = "" if spent.price is None else f", {spent.price:.4f} by the prices set"
    sentences = [
        f"{amount(spent.requests, 'request')} sent: {spent.tokens_read:,} tokens read and "
        f"{spent.tokens_written:,} "
        f"written{price}. {spent.answered:,} of {amount(spent.calls, 'call')} have an answer, "
        f"{spent.stored:,} of "
        "them from before."
    ]
    if spent.uncounted:
        sentences.append(f"The endpoint did not count the tokens of {amount(spent.uncounted, 'answer')}.")
    return sentences + [f"left out: {count:,}: {reason}" for reason, count in spent.left_out.items()]
