"""Rules: which ties between queries are looked for, and from which similarity on.

Each kind has its own threshold or switch. The defaults of the two kinds that compare query texts were chosen
by reading the pairs of real queries above and below them:

- character 3-grams at 0.65 join 'laptop' with 'laptops' (0.80) and 'iphone' with 'iphone 7' (0.67), not
  'computer' with 'computer fan' (0.60). Among 3,000 templated queries the largest group is 297 at 0.65 and
  2,369 at 0.60;
- the cosine of all-MiniLM-L6-v2 at 0.8 joins 'playstation 4' with 'ps4' (0.91), 'shoes for women' with
  'womens shoes' (0.90), 'memory card' with 'sd card' (0.81), 'wireless earbuds' with 'wireless headphones'
  (0.81), and 'mouse' with 'mouse pad' (0.80) by mistake. Below it most pairs are a query and a narrower one
  ('headphones', 'wireless headphones' 0.79) or two products ('iphone 11', 'iphone 8' 0.80, 'cd drive', 'cd
  player' 0.79), and groups grow: of 314 ESCI queries the largest has 7 at 0.8 and 15 at 0.75, of 137 Icecat
  queries 4 and 6, of 2,095 of the Excite log 9 and 13. What it misses just below: 'earbuds' and 'earphones'
  (0.79), 'screen saver' and 'screensaver' (0.80, and 0.58 by 3-grams).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from curation.core.errors import InputError
from curation.core.operation import DEFAULT_MODEL, Needs, Switch, option

Numbers = Literal["text", "apart", "tie"]

QUERY = 0.65
PARAPHRASE = 0.8
DOCUMENT = 0.8
CONTAINED = 0.9
"""The share of a document's shingles in another from which on the other holds it …"""
LEAST_SHINGLES = 20
"""… if it has so many. A title of ten words is in many a text of which it is no copy."""
LEAST_THRESHOLD = 0.1
LEAST_COSINE = 0.3
DECIMALS = 4
"""Cosines are rounded to so many places: the last ones are the machine's."""
SESSION = "session"
GROUP = "group"
SESSIONS = 3
"""A query that was asked in more sessions than this is tied by none of them: a head query is in a
thousand sessions with a thousand queries that it has nothing to do with."""


def parsed_cut(text: str) -> tuple[str, str]:
    """The two queries of 'A~B', as they are written.

    Raises
    ------
    InputError: it does not name two.
    """
    first, separator, second = text.partition("~")
    if not (separator and first.strip() and second.strip()):
        raise InputError(f"Cut {text}: expected two queries, by id or text, with ~ between them.")
    return first.strip(), second.strip()


@dataclass(frozen=True)
class Rules:
    """Which ties are looked for, and from which similarity on; None or False or () switches a kind off.

    Attributes
    ----------
    query: least Jaccard similarity of the character 3-grams of two query texts.
    paraphrase: least cosine, rounded to 4 decimals, of the embeddings of two query texts by `model`.
    document: least Jaccard similarity of the word 3-shingles of two relevant documents.
    shared: whether a document that is relevant to both ties them.
    keys: 'session', 'group' (a relevant document's group_key) or a metadata field of the query. With 'group'
        the likeness of two queries, or documents, that both have a group is no tie.
    numbers: 'text': numbers and model names are text as any other; 'apart': queries that name different ones
        are not tied by query text or paraphrase; 'tie': texts are compared with them taken out.
    cut: pairs of query ids whose direct ties do not count: residual leakage, reported as such.
    """

    query: float | None = option(
        QUERY,
        "Similarity of query texts from",
        "Minimum similarity that ties two query texts. It is the Jaccard of character 3-grams.",
        flag="--query-threshold",
        least=LEAST_THRESHOLD,
        most=1,
        switch=Switch(
            "--no-query-text", "Similar query texts make no ties.", "Similar query texts stay together"
        ),
    )
    paraphrase: float | None = option(
        PARAPHRASE,
        "Similarity of paraphrases from",
        "Minimum cosine of embeddings that ties two queries.",
        flag="--paraphrase-threshold",
        least=LEAST_COSINE,
        most=1,
        switch=Switch(
            "--no-paraphrase",
            "Paraphrases make no ties. This needs no model.",
            "Paraphrases stay together",
        ),
    )
    document: float | None = option(
        DOCUMENT,
        "Similarity of documents from",
        "Minimum similarity that ties relevant documents. It is the Jaccard of word 3-shingles.",
        flag="--document-threshold",
        least=LEAST_THRESHOLD,
        most=1,
        switch=Switch(
            "--no-near-duplicates",
            "Near-duplicate relevant documents make no ties.",
            "Queries with nearly identical relevant documents stay together",
        ),
    )
    shared: bool = option(
        True,
        "Queries with a relevant document in common stay together",
        "A document that is relevant to both ties two queries.",
        switch=Switch("--no-shared-documents", "A document relevant to both queries makes no tie."),
    )
    keys: tuple[str, ...] = option(
        (),
        "Queries with the same … stay together",
        "Tie queries with the same session, group or field. A group is one of a relevant document, "
        "a field one of the query. Similarity does not tie two queries that both have a group. Repeatable.",
        flag="--same",
        metavar="KEY",
    )
    numbers: Numbers = option(
        "text",
        "Numbers and model names in queries",
        "Numbers and model names in queries: text, apart or tie. With text they are compared like "
        "other words, with apart queries with different ones are not tied by their words, with tie they "
        "are left out of the comparison.",
        choices=get_args(Numbers),
        words={
            "text": "Like other words",
            "apart": "Queries with different ones are not tied by their words",
            "tie": "Left out of the comparison",
        },
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of paraphrases",
        "Model for paraphrases. For other languages than English take a multilingual one: docs/languages.md.",
        needs=Needs("only paraphrases use a model", lambda split: split["paraphrase"] is not None),
    )
    cut: tuple[tuple[str, str], ...] = option(
        (),
        "Ties to cut",
        "Two queries, by id or text, whose direct ties do not count. They are reported as residual "
        "leakage. Repeatable.",
        metavar="A~B",
        read=parsed_cut,
    )

    @property
    def says_what_belongs_together(self) -> bool:
        """Whether a key other than the session is a tie: a large group is then what was asked for."""
        return any(key != SESSION for key in self.keys)
