"""Where a language model takes part in a command: what it would send, and what it sent."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, progress_bar
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.queries.coverage.coverage_map import MapSettings
    from curation.queries.coverage.entities import Extractor
    from curation.queries.coverage.language_model.answers import Check, ModelCall, ModelSpending, ModelWork
    from curation.store import Store

Send = Annotated[
    bool,
    typer.Option(
        "--send", help="Send texts to the language model of GOLDGRADE_LLM_URL. Without it nothing is sent."
    ),
]
MostCalls = Annotated[
    int | None,
    typer.Option("--calls", min=1, help="Requests to send at most in this run.", show_default="all"),
]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="Calls that are under way at once.")]
NOT_SENT = "Nothing was sent: give --send to send it."


class ExtractorName(StrEnum):
    """What finds the entities."""

    phrases = "phrases"
    llm = "llm"


class MatchingName(StrEnum):
    """What says which clusters a query is about."""

    rule = "rule"
    llm = "llm"


MatchingOption = Annotated[
    MatchingName,
    typer.Option(help="What says what a query is about: a rule or a language model."),
]


ExtractorOption = Annotated[
    ExtractorName, typer.Option(help="What finds entities: phrases, offline, or a language model.")
]


class Sender:
    """Sends what is still to be asked, within one limit of requests; `spent` is what was sent so far."""

    def __init__(self, send: bool, most_calls: int | None, parallel: int, as_json: bool) -> None:
        self._send, self._most, self._parallel, self._as_json = send, most_calls, parallel, as_json
        self.spent: ModelSpending | None = None

    def ask(self, store: Store, calls: Sequence[ModelCall], check: Check, cut: int = 0) -> bool:
        """Send these calls; False: nothing may be sent, and what would be is printed."""
        from curation.queries.coverage.language_model.answers import Asking, add_spending, ask, plan_calls
        from curation.queries.coverage.language_model.endpoint import (
            find_endpoint,
            model_at,
            model_name,
            prices_set,
        )
        from curation.queries.coverage.language_model.model_extractor import LONGEST_TEXT

        work = plan_calls(store, calls, prices_set())
        sentence = f"{model_at()}: {work_sentence(work)}"
        if cut:
            sentence += f" Of long documents only the first {LONGEST_TEXT:,} characters are sent, "
            sentence += f"without {cut:,} others."
        if work.calls and not self._send:
            result = {"model": model_name(), "would_send": work, "cut": cut}
            emit(self._as_json, result, f"{sentence} {NOT_SENT}")
        elif work.calls:
            note(sentence)
            most = self._most and max(0, self._most - (self.spent.requests if self.spent else 0))
            with progress_bar() as progress:
                spent = ask(store, calls, check, Asking(find_endpoint(), most, self._parallel), progress)
            note(*spending_sentences(spent))
            self.spent = add_spending(self.spent, spent) if self.spent else spent
        return self._send or not work.calls

    def extractor(self, store: Store) -> Extractor | None:
        """The extractor that reads the model's answers; None: they are lacking, and nothing may be sent."""
        from curation.queries.coverage.language_model.endpoint import model_name
        from curation.queries.coverage.language_model.model_extractor import (
            ModelExtractor,
            document_calls,
            read_mentions,
        )

        calls, cut = document_calls(store, model_name())
        return ModelExtractor(store, model_name()) if self.ask(store, calls, read_mentions, cut) else None

    def filter(self, store: Store, settings: MapSettings) -> bool:
        """Ask what the queries are about; False: answers are lacking, and nothing may be sent."""
        from curation.queries.coverage.asked import match_asked
        from curation.queries.coverage.language_model.endpoint import model_name
        from curation.queries.coverage.language_model.filtering import filter_calls, keep_entities, read_kept
        from curation.queries.coverage.report import find_map

        with progress_bar() as progress:
            found = find_map(store, settings, progress, in_force=False)
            asked = match_asked(store, found, settings.model, progress)
        calls = filter_calls(found, asked, model_name())
        answered = self.ask(store, [*calls.values()], read_kept)
        if answered:
            keep_entities(store, found, asked, calls)
        return answered


def note(*sentences: str) -> None:
    """Sentences next to the result, on standard error."""
    for sentence in sentences:
        typer.echo(sentence, err=True)


def work_sentence(work: ModelWork) -> str:
    """What would be sent."""
    price = "" if work.price is None else f", at least {work.price:.4f} by the prices set"
    return (
        f"{amount(work.calls, 'call')} to make, which read about {work.tokens:,} tokens{price}; "
        f"{work.stored:,} answered before."
    )


def spending_sentences(spent: ModelSpending) -> list[str]:
    """What was sent, and what came of it."""
    price = "" if spent.price is None else f", {spent.price:.4f} by the prices set"
    sentences = [
        f"{amount(spent.requests, 'request')} sent: {spent.tokens_read:,} tokens read and "
        f"{spent.tokens_written:,} written{price}. {spent.answered:,} of {amount(spent.calls, 'call')} have "
        f"an answer, {spent.stored:,} of them from before."
    ]
    if spent.uncounted:
        sentences.append(f"The endpoint did not count the tokens of {amount(spent.uncounted, 'answer')}.")
    return sentences + [f"left out: {count:,}: {reason}" for reason, count in spent.left_out.items()]
