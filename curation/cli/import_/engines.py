"""What `goldset import` takes from an engine in the place of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import typer

from curation.cli.goldset import project_store
from curation.cli.options import given_flags, refuse_unused
from curation.cli.output import progress_bar, to_people

ALWAYS = frozenset({"name", "as_json"})
"""Options of both: files and engines."""


class FromEngine(NamedTuple):
    """How an import asks an engine: the option that names it, those that only go with it, and the work."""

    option: str
    others: frozenset[str]
    work: Callable[[Mapping[str, Any]], Any]

    def is_asked(self, context: typer.Context, given: Mapping[str, Any]) -> bool:
        """Whether an engine is named in the place of a file; refuses options of the other, and neither."""
        flags = given_flags(context).keys() - ALWAYS
        mine = self.others | {self.option}
        if given[self.option] is None:
            if flags & self.others:
                refuse_unused(context, f"no engine is named with --{self.option}", *self.others)
            if given["path"] is None:
                raise typer.BadParameter(f"name a file, or an engine with --{self.option}")
        elif flags - mine:
            refuse_unused(context, f"--{self.option} asks an engine, and reads no file", *(flags - mine))
        return given[self.option] is not None


def ask_for_run(given: Mapping[str, Any]) -> Any:
    """The lists of an engine as a run."""
    from curation.engines.asking import EngineRunRequest, import_engine_run

    asked = [given[name] for name in ("engine", "name", "depth", "rate", "repeat")]
    with progress_bar() as progress:
        return import_engine_run(project_store(), EngineRunRequest(*asked), progress, say=to_people)


def fetch_again(given: Mapping[str, Any]) -> Any:
    """An engine's documents as they are now."""
    from curation.engines.documents import refresh

    with progress_bar() as progress:
        return refresh(project_store(), given["refresh"], given["rate"], progress)
