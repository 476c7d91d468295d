"""What a search for tags is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from curation.step import DEFAULT_MODEL, Needs, Option


@dataclass(frozen=True)
class TagsRequest:
    """Tags by rule for the queries in force."""

    model: Annotated[
        str,
        Option(
            "Embedding model of synonyms",
            "Embedding model that finds a query's neighbors. A name or a folder.",
            needs=Needs("only the search for synonyms uses a model", lambda tags: tags["dense"]),
        ),
    ] = DEFAULT_MODEL
    dense: Annotated[
        bool,
        Option("Synonyms, too: embeds the corpus, once", "Also find synonyms. This embeds the corpus, once."),
    ] = True
