"""The rules for ties: the kinds of ties that keep two queries in one part of a split, with their thresholds.

Each kind of tie between queries has a separate threshold or switch in `Rules`. The defaults of the two kinds
that compare query texts were chosen by reading the pairs of real queries above and below the thresholds:

- character 3-grams at 0.65 join 'laptop' with 'laptops' (0.80) and 'iphone' with 'iphone 7' (0.67), not
  'computer' with 'computer fan' (0.60). Among 3,000 templated queries the largest group is 297 at 0.65 and
  2,369 at 0.60;
- the cosine of all-MiniLM-L6-v2 at 0.8 joins 'playstation 4' with 'ps4' (0.91), 'shoes for women' with
  'womens shoes' (0.90), 'memory card' with 'sd card' (0.81), 'wireless earbuds' with 'wireless headphones'
  (0.81), and 'mouse' with 'mouse pad' (0.80) by mistake. Below 0.8 most pairs are a query and a narrower
  query ('headphones', 'wireless headphones' 0.79) or two products ('iphone 11', 'iphone 8' 0.80, 'cd drive',
  'cd player' 0.79), and groups grow. The largest group of 314 ESCI queries has 7 queries at 0.8 and 15 at
  0.75; of 137 Icecat queries 4 and 6; of 2,095 queries of the Excite log 9 and 13. Pairs just below 0.8 are
  missed: 'earbuds' and 'earphones' (0.79), 'screen saver' and 'screensaver' (0.80, and 0.58 by 3-grams).
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.errors import InputError
from curation.core.request import DEFAULT_MODEL, Needs, Switch, describe_out_of_bounds, option

QUERY_SIMILARITY = 0.65
PARAPHRASE_COSINE = 0.8
DOCUMENT_SIMILARITY = 0.8
MIN_CONTAINMENT = 0.9
"""Share of a smaller document's shingles from which a larger document counts as containing it."""
MIN_SHINGLES = 20
"""Minimum number of shingles for a document to count as contained in a larger document.

Many texts contain a title of ten words without being a copy of the titled document.
"""
MIN_THRESHOLD = 0.1
MIN_COSINE = 0.3
DECIMALS = 4
"""Number of decimals of the cosines of embeddings; further decimals differ between machines."""
SESSION = "session"
GROUP = "group"
MAX_SESSIONS = 3
"""Maximum number of a query's sessions for which the sessions count as ties.

A head query shares a thousand sessions with unrelated queries, so its sessions are not ties.
"""


def find_rule_problems(rules: Rules) -> list[str]:
    """List the problems with the rules for ties, in one sentence each."""
    problems = describe_out_of_bounds(Rules, vars(rules))
    problems += [
        f"Cut {first}~{second}: this is one query; expected two different queries"
        for first, second in rules.cut
        if first == second
    ]
    if not any((rules.query, rules.paraphrase, rules.shared, rules.document, rules.keys)):
        problems.append(
            "every kind of tie is switched off; keep at least one kind, because otherwise no queries stay "
            "together"
        )
    return problems


def parse_cut(text: str) -> tuple[str, str]:
    """Parse the cut 'A~B' into the names of two queries.

    Raises
    ------
    InputError: the text does not name two queries.
    """
    first, separator, second = text.partition("~")
    if not (separator and first.strip() and second.strip()):
        raise InputError(f"Cut {text}: expected two queries, by id or text, with ~ between them.")
    return first.strip(), second.strip()


@dataclass(frozen=True)
class Rules:
    """Kinds of ties to look for, with their minimum similarities; None, False or () switches a kind off.

    Attributes
    ----------
    query: minimum Jaccard similarity of the character 3-grams of two query texts.
    paraphrase: minimum cosine, rounded to 4 decimals, of the embeddings of two query texts by `model`.
    document: minimum Jaccard similarity of the word 3-shingles of two relevant documents.
    shared: whether a document that is relevant to two queries ties them.
    keys: 'session', 'group' (the group_key of a relevant document) or a metadata field of the query. With
        'group', similarity does not tie two queries, or two documents, that both have a group.
    cut: pairs of query ids whose direct ties do not count. The certificate reports ignored ties as residual
        leakage.
    """

    query: float | None = option(
        QUERY_SIMILARITY,
        "Minimum similarity of query texts",
        "Minimum similarity that ties two query texts. The measure is Jaccard of character 3-grams.",
        flag="--query-threshold",
        minimum=MIN_THRESHOLD,
        maximum=1,
        switch=Switch(
            "--no-query-text", "Do not tie similar query texts.", "Queries with similar texts stay together"
        ),
    )
    paraphrase: float | None = option(
        PARAPHRASE_COSINE,
        "Minimum similarity of paraphrases",
        "Minimum cosine of embeddings that ties two queries.",
        flag="--paraphrase-threshold",
        minimum=MIN_COSINE,
        maximum=1,
        switch=Switch(
            "--no-paraphrase",
            "Do not tie paraphrases. The split then works without an embedding model.",
            "Paraphrases stay together",
        ),
    )
    document: float | None = option(
        DOCUMENT_SIMILARITY,
        "Minimum similarity of documents",
        "Minimum similarity that ties relevant documents. The measure is Jaccard of word 3-shingles.",
        flag="--document-threshold",
        minimum=MIN_THRESHOLD,
        maximum=1,
        switch=Switch(
            "--no-near-duplicates",
            "Do not tie queries by near-duplicate relevant documents.",
            "Queries with nearly identical relevant documents stay together",
        ),
    )
    shared: bool = option(
        True,
        "Queries with a relevant document in common stay together",
        "Tie two queries if a document is relevant to both.",
        switch=Switch("--no-shared-documents", "Do not tie queries by shared relevant documents."),
    )
    keys: tuple[str, ...] = option(
        (),
        "Queries with the same … stay together",
        "Tie queries with the same session, group or field. A group belongs to a relevant document, and a "
        "field belongs to the query. Similarity does not tie two queries that both have a group. Repeatable.",
        flag="--same",
        metavar="KEY",
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model for paraphrases",
        "Embedding model that finds paraphrases. Languages other than English need a multilingual model: "
        "docs/languages.md.",
        needs=Needs("only paraphrases use a model", lambda split: split["paraphrase"] is not None),
    )
    cut: tuple[tuple[str, str], ...] = option(
        (),
        "Ties to cut",
        "Ignore the ties between two queries (ids or texts). The certificate lists ignored ties as residual "
        "leakage. Repeatable.",
        metavar="A~B",
        parse=parse_cut,
    )

    @property
    def has_grouping_key(self) -> bool:
        """Return whether the rules tie queries by a key other than the session."""
        return any(key != SESSION for key in self.keys)


RULES = Rules()
