"""What a search for tags is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from curation.step import DEFAULT_MODEL, Needs, option


@dataclass(frozen=True)
class TagsRequest:
    """Tags by rule for the queries in force."""

    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of synonyms",
        "Embedding model that finds a query's neighbors. A name or a folder.",
        needs=Needs("only the search for synonyms uses a model", lambda tags: tags["dense"]),
    )
    dense: bool = option(
        True, "Synonyms, too: embeds the corpus, once", "Also find synonyms. This embeds the corpus, once."
    )
