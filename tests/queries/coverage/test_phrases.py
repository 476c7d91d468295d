"""Phrases: which ones name a thing, how they are chosen, described and merged."""

from __future__ import annotations

from collections.abc import Sequence

from curation.queries.coverage.entities import (
    MAX_DESCRIPTION_LENGTH,
    MAX_SENTENCE_LENGTH,
    Entity,
    extract_phrases,
    find_entities,
    find_joining_words,
    list_phrases,
    make_singular,
    normalise_name,
    unite_mentions,
)
from curation.store import Document


def document(document_id: str, body: str, title: str = "") -> Document:
    return Document(document_id, f"hash {document_id}", title, body)


TEA = [
    document("a", "Green tea is steamed. The steamed green tea leaves keep their colour. Nobody knows why."),
    document("b", "Black tea is oxidised. Green tea is not. Oxidised leaves turn dark.", title="Black tea"),
    document("c", "Ships carry black tea. Ships sail slowly."),
]


def names(document: Document, corpus: Sequence[Document] = TEA, most: int = 8) -> list[str]:
    mentions = extract_phrases(corpus, most)
    return [mention.name for mention in mentions[list(corpus).index(document)]]


def test_a_phrase_crosses_no_punctuation_and_no_word_of_joining_ends_it() -> None:
    assert list(list_phrases("Theory of relativity, 1905: a new state-of-the-art")) == [
        "theory",
        "theory of relativity",
        "relativity",
        "state",
        "art",
    ]


def test_numbers_and_single_letters_name_nothing_alone() -> None:
    assert list(list_phrases("vitamin B 12 x")) == ["vitamin"]
    assert "vitamin b12" in list(list_phrases("vitamin B12"))


def test_a_part_that_is_always_the_longer_phrase_is_left_out() -> None:
    corpus = [document("a", "hot water bottle. hot water bottle."), document("b", "cold rain falls")]
    assert names(corpus[0], corpus) == ["hot water bottle"]
    longer = [document("a", "hot water bottle. hot water bottle. hot water."), corpus[1]]
    assert set(names(longer[0], longer)) == {"hot water", "hot water bottle"}


def test_phrases_that_the_corpus_repeats_come_before_those_that_it_has_once() -> None:
    found = names(TEA[2])
    assert set(found) == {"black tea", "ships"}  # 'tea' is always 'black tea' here, 'sail' occurs once
    assert found[0] == "ships"  # twice in one document


def test_a_document_that_repeats_nothing_keeps_its_own_words() -> None:
    lone = [*TEA, document("d", "Granite")]
    assert names(lone[3], lone) == ["granite"]


def test_what_more_than_a_tenth_of_a_large_corpus_has_is_too_general() -> None:
    corpus = [document(f"d{n:02}", f"engine number{n} number{n}") for n in range(60)]
    assert names(corpus[0], corpus) == ["number0"]  # 'engine' is in all 60
    assert "engine" in " ".join(names(corpus[0], corpus[:5]))


def test_a_phrase_is_described_by_the_sentence_in_which_the_chosen_phrases_weigh_most() -> None:
    [mention] = [m for m in extract_phrases(TEA)[0] if m.name == "green tea"]
    assert mention.description == "Green tea is steamed."  # both phrases in fewest words


def test_a_long_description_ends_in_an_ellipsis() -> None:
    long = document("a", "pump " * (MAX_SENTENCE_LENGTH + 20))
    [pump] = [m for m in extract_phrases([long], 1000)[0] if m.name == "pump pump pump"]
    assert pump.description.split(" ")[MAX_SENTENCE_LENGTH:] == ["…"]


def test_a_corpus_without_words_has_no_entity() -> None:
    assert find_entities([document("a", ""), document("b", "the of and")]) == ([], {"a": (), "b": ()})


def test_names_that_are_equal_once_normalised_are_one_entity_with_the_heaviest_description() -> None:
    assert normalise_name("  Wi-Fi (802.11ac) ") == "wi fi 802 11ac"
    mentions = {
        "a": {Entity("Wi-Fi", "light"): 1.0, Entity("Router", "r"): 1.0, Entity("–", "no name"): 9.0},
        "b": {Entity("wi fi", "heavy"): 2.0, Entity("WI FI", "same, later"): 2.0},
    }
    entities, of_documents = unite_mentions(["b", "a", "c"], [mentions["b"], mentions["a"], {}])
    assert entities == [Entity("router", "r"), Entity("wi fi", "heavy")]
    assert of_documents == {"a": (0, 1), "b": (1,), "c": ()}
    assert entities[1].text == "wi fi: heavy"


def test_the_order_of_the_documents_changes_nothing() -> None:
    assert find_entities(TEA) == find_entities(TEA[::-1])


GERMAN = [
    f"Der {ding} und die {anderes} sind hier. Die {anderes} ist gross, der {ding} ist klein und alt."
    for ding, anderes in [
        *(("Apfel", "Birne"), ("Hund", "Katze"), ("Turm", "Kirche"), ("Zug", "Bahn")),
        *(("Berg", "Wiese"), ("Fluss", "Quelle"), ("Stuhl", "Lampe"), ("Brief", "Karte")),
    ]
]


def test_words_that_join_others_are_found_from_the_corpus_in_any_language() -> None:
    joining = find_joining_words(GERMAN)
    assert {"der", "die", "und", "ist"} <= joining
    assert not {"apfel", "katze"} & joining
    found = list(list_phrases("Der Apfel und die Birne", joining))
    assert found == ["apfel", "birne"]


def test_a_word_of_many_documents_that_comes_in_bursts_joins_nothing() -> None:
    of_cells = [f"cell cell cell cell cell cell paper {number}" for number in range(10)]
    corpus = [*of_cells, *(f"paper {number}" for number in range(5))]
    assert find_joining_words(corpus) == {"paper"}


def test_scripts_without_spaces_have_grams_and_short_descriptions() -> None:
    corpus = [
        document("zh", "绿茶是一种茶。货船离开港口！" * 3),
        document("ja", "緑茶はお茶の一種です。貨物船が港を出た。" * 3),
        document("th", "ชาเขียวเป็นชาชนิดหนึ่งเรือสินค้าออกจากท่าเรือ" * 20),
    ]
    entities, of_documents = find_entities(corpus)
    assert all(of_documents.values())
    described = {entity.name: entity.description for entity in entities}
    sentences = [text for text in described.values() if text.endswith(("。", "！"))]
    assert set(sentences) == {
        *("绿茶是一种茶。", "货船离开港口！"),
        *("緑茶はお茶の一種です。", "貨物船が港を出た。"),
    }
    assert len(described) > len(sentences) > 8  # the others are Thai
    assert all(len(text) <= MAX_DESCRIPTION_LENGTH + 2 for text in described.values())
    assert all(" " not in name for name in described)


def test_singular_and_plural_of_a_name_are_one_entity_under_the_heavier_mentions_name() -> None:
    mentions = {
        "a": {Entity("neural networks", "of many"): 2.0},
        "b": {Entity("neural-network", "of one"): 1.0},
    }
    entities, of_documents = unite_mentions(["a", "b"], [mentions["a"], mentions["b"]])
    assert entities == [Entity("neural networks", "of many")]
    assert of_documents == {"a": (0,), "b": (0,)}
    assert list(map(make_singular, ["libraries", "virus", "gas", "class", "axis", "lenses"])) == [
        *("library", "virus", "gas", "class", "axis", "lense")
    ]
