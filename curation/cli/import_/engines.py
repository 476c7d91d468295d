"""What `goldgrade import` does without a file: it asks an engine, or prints what a warehouse is to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import typer

from curation.cli.options import given_flags, refuse_unused
from curation.cli.output import progress_bar, to_people
from curation.cli.program import project_store

ALWAYS = frozenset({"name", "as_json"})
"""Options of both: files and engines."""
CLEANING = ("max_words", "max_characters", "repeat_minutes", "bot_per_minute", "bot_per_day")
"""Options of the rules by which rows of a log are left out, in the order of `CleaningRules`."""


class WithoutFile(NamedTuple):
    """What an import does without a file: the option that asks for it, and the work.

    Attributes
    ----------
    others: parameters that only go with it; `both` go with a file, too.
    named: what the option names, with its article; `does` is what comes of it, and `path` what the path is.
    """

    option: str
    others: frozenset[str]
    work: Callable[[Mapping[str, Any]], Any]
    both: frozenset[str] = frozenset()
    named: str = "an engine"
    does: str = "asks an engine"
    path: str = "None"

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return f"--{self.option.replace('_', '-')}"

    def is_asked(self, context: typer.Context, given: Mapping[str, Any]) -> bool:
        """Whether it is asked for in the place of a file; refuses options of the other, and neither."""
        flags = given_flags(context).keys() - ALWAYS - self.both
        mine = self.others | {self.option}
        if given[self.option] is None:
            if flags & self.others:
                refuse_unused(context, f"no {self.named.split()[1]} is named with {self.flag}", *self.others)
            if given["path"] is None:
                raise typer.BadParameter(f"name a file, or {self.named} with {self.flag}")
        elif flags - mine:
            refuse_unused(context, f"{self.flag} {self.does}, and reads no file", *(flags - mine))
        return given[self.option] is not None


def ask_for_run(given: Mapping[str, Any]) -> Any:
    """The lists of an engine as a run."""
    from curation.retrieval.engines.asking import EngineRunRequest, import_engine_run

    asked = [given[name] for name in ("engine", "name", "depth", "rate", "repeat")]
    with progress_bar() as progress:
        return import_engine_run(project_store(), EngineRunRequest(*asked), progress, say=to_people)


def fetch_again(given: Mapping[str, Any]) -> Any:
    """An engine's documents as they are now."""
    from curation.retrieval.engines.documents import refresh

    with progress_bar() as progress:
        return refresh(project_store(), given["refresh"], given["rate"], progress, say=to_people)


def print_statement(given: Mapping[str, Any]) -> Any:
    """The statement that counts a log in a warehouse."""
    from curation.ingest.importers.traffic.cleaning import CleaningRules
    from curation.ingest.importers.traffic.warehouse import log_statement
    from curation.ingest.readers.columns import file_fields
    from curation.ingest.readers.fields import TrafficFields

    columns = {field.name: given[f"{field.name}_field"] for field in file_fields(TrafficFields)}
    fields = TrafficFields(**{name: column for name, column in columns.items() if column})
    rules = CleaningRules(*(given[name] for name in CLEANING))
    table = "log" if given["path"] is None else str(given["path"])
    return log_statement(given["print_sql"], table, fields, rules, given["per"])
