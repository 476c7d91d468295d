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
from typing import Literal

from curation.retrieval.embeddings import DEFAULT_MODEL

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
LONGEST_BLOCK = 100 * 366 * 86_400
DECIMALS = 4
"""Cosines are rounded to so many places: the last ones are the machine's."""
SESSION = "session"
GROUP = "group"
SESSIONS = 3
"""A query that was asked in more sessions than this is tied by none of them: a head query is in a
thousand sessions with a thousand queries that it has nothing to do with."""


@dataclass(frozen=True)
class Rules:
    """Which ties are looked for, and from which similarity on; None or False or () switches a kind off.

    Attributes
    ----------
    query: least Jaccard similarity of the character 3-grams of two query texts.
    paraphrase: least cosine, rounded to 4 decimals, of the embeddings of two query texts by `model`.
    document: least Jaccard similarity of the word 3-shingles of two relevant documents.
    shared: whether a document that is relevant to both ties them.
    keys: 'session', 'group' (a relevant document's group_key) or a metadata field of the query.
    time_block: queries first asked within the same block of so many seconds are tied.
    numbers: 'text': numbers and model names are text as any other; 'apart': queries that name different ones
        are not tied by query text or paraphrase; 'tie': texts are compared with them taken out.
    cut: pairs of query ids whose direct ties do not count: residual leakage, reported as such.
    """

    query: float | None = QUERY
    paraphrase: float | None = PARAPHRASE
    document: float | None = DOCUMENT
    shared: bool = True
    keys: tuple[str, ...] = ()
    time_block: int | None = None
    numbers: Numbers = "text"
    model: str = DEFAULT_MODEL
    cut: tuple[tuple[str, str], ...] = ()
