"""Files of ../shared/cases, and their cousins: each once went wrong in silence."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.importers.value_maps import parse_annotator_map, parse_grade_map
from curation.ingest.readers.fields import JudgmentFields
from curation.ingest.readers.formats import FileLayout
from curation.labeling.judgments.imported import import_judgments
from curation.people.annotators import add_annotator
from curation.store import Store
from tests.support import ROOT
from tests.support.projects import rows_of

CASES = ROOT.parent / "shared" / "cases"
BY_ANN = JudgmentFields(annotator_name="ann")


def case(name: str) -> Path:
    """A file of cases/; the test is skipped where the folder is not there."""
    if not CASES.is_dir():
        pytest.skip("../shared/cases is not there")
    return CASES / name


def test_characters_that_nobody_sees_make_no_other_query(store: Store) -> None:
    log = import_traffic(store, case("writings/invisible_log.csv"))
    assert (log.queries, log.traffic) == (5, 74)
    asked = rows_of(store, "SELECT sum(count)::INT FROM traffic WHERE normalised = 'tv'")
    assert asked == [(60,)]


def test_one_person_gives_a_query_one_grade_whatever_nobody_sees_in_its_text(store: Store) -> None:
    import_corpus(store, case("writings/invisible_corpus.jsonl"))
    with pytest.raises(InputError) as refused:
        import_judgments(store, case("writings/invisible_judgments.csv"), BY_ANN)
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["line 3", "line 4"]
    assert "gives the pair" in refused.value.problems[0]


# The kinds of characters that Unicode calls default ignorable; none has a glyph of its own.
COUSINS = {
    "zero width space": "t\u200bv",
    "byte order mark": "\ufefftv",
    "soft hyphen": "t\u00adv",
    "left-to-right mark": "tv\u200e",
    "right-to-left override": "\u202etv\u202c",
    "isolates": "\u2068tv\u2069",
    "word joiner": "t\u2060v",
    "invisible separator": "t\u2063v",
    "joiners": "t\u200d\u200cv",
    "variation selector": "tv\ufe0f",
    "far variation selector": "tv\U000e0101",
    "combining grapheme joiner": "t\u034fv",
    "Mongolian vowel separator": "t\u180ev",
    "Hangul filler": "t\u3164v",
    "halfwidth Hangul filler": "t\uffa0v",
    "Khmer inherent vowel": "t\u17b5v",
    "tag": "tv\U000e0041",
    "Arabic letter mark": "\u061ctv",
    "annotation": "\ufff9tv\ufffb",
    "musical format": "t\U0001d173v",
    "spaced": " \u200b tv \u200b ",
}


@pytest.mark.parametrize("text", COUSINS.values(), ids=COUSINS)
def test_each_kind_of_invisible_character_is_folded(
    store: Store, write: Callable[..., Path], text: str
) -> None:
    log = import_traffic(store, write("log.csv", f"query,count\ntv,2\n{text},3\n\u200b,7\n"))
    assert (log.queries, log.traffic, log.left_out) == (1, 5, {"empty query": 1})


def test_an_unknown_id_is_said_to_differ_from_a_known_one_by_its_form(store: Store) -> None:
    import_corpus(store, case("writings/nfc_corpus.jsonl"))
    with pytest.raises(InputError) as refused:
        import_judgments(store, case("writings/nfd.qrels"), BY_ANN, FileLayout("qrels"))
    assert "it differs from the known 'Café-Über_5' by its Unicode form" in " ".join(refused.value.problems)
    assert "write those of the file as the project has them" in refused.value.way_out


WRITTEN_TWICE = [
    ("Ann Lee", "ann lee", "upper and lower case"),
    ("ann@x.org", "Ann@X.org", "upper and lower case"),
    ("ann", "ann\u200b", "characters that nobody sees"),
    ("Zoé", "Zoe\u0301", "its Unicode form"),
    ("Ann Lee", "Ann  Lee", "white space"),
]
LONG = "query_id,doc_id,rater,grade\n"


def judged_pairs(store: Store) -> list[tuple[object, ...]]:
    return rows_of(store, "SELECT annotator, document_id, grade FROM current_judgments ORDER BY ALL")


@pytest.fixture
def pair(store: Store, write: Callable[..., Path]) -> Store:
    """Three documents, and the query q1 of another text than its id."""
    import_corpus(store, write("corpus.jsonl", [{"id": f"d{n}", "text": f"text {n}"} for n in (1, 2, 3)]))
    import_queries(store, write("queries.jsonl", [{"id": "q1", "text": "tea"}]))
    return store


@pytest.mark.parametrize("known", [True, False], ids=["in the project", "in the file"])
@pytest.mark.parametrize(("name", "other", "differs"), WRITTEN_TWICE)
def test_whether_two_writings_of_a_name_are_one_person_is_asked_and_said(
    pair: Store, write: Callable[..., Path], name: str, other: str, differs: str, known: bool
) -> None:
    first, second = f"q1,d1,{name},2\n", f"q1,d1,{other},2\nq1,d2,{other},1\n"
    if known:
        import_judgments(pair, write("first.csv", LONG + first))
        first = ""
    path = write("second.csv", LONG + first + second)
    with pytest.raises(InputError) as refused:
        import_judgments(pair, path)
    where = "" if known else " on line 2"
    (problem,) = refused.value.problems
    assert (
        problem
        == f"line {2 if known else 3}: the annotator {other!r} differs from {name!r}{where} by {differs}"
    )
    one, two = (shlex.split(part)[0] for part in refused.value.way_out.split("--annotator-map ")[1:])
    one, two = one.removesuffix("."), two.removesuffix(".")
    assert (parse_annotator_map(one), parse_annotator_map(two)) == ({other: name}, {other: other})
    import_judgments(pair, path, JudgmentFields(annotator_map=parse_annotator_map(one)))
    assert judged_pairs(pair) == [(name, "d1", 2), (name, "d2", 1)]
    import_judgments(pair, path, JudgmentFields(annotator_map=parse_annotator_map(two)))
    assert {row[0] for row in judged_pairs(pair)} == {name, other}
    import_judgments(pair, write("third.csv", LONG + f"q1,d3,{other},3\n"))  # both are known now


def test_a_wide_table_and_one_name_for_all_are_asked_as_well(pair: Store, write: Callable[..., Path]) -> None:
    wide = write("wide.csv", "query_id,doc_id,A,B\nq1,d1,1,2\n")
    with pytest.raises(InputError, match="'ann' differs from 'Ann' on line 2"):
        import_judgments(pair, wide, JudgmentFields(annotator_columns={"A": "Ann", "B": "ann"}))
    import_judgments(pair, wide, JudgmentFields(annotator_columns={"A": "NIST"}))
    qrels = write("t.qrels", "q1 0 d2 1\n")
    with pytest.raises(InputError) as refused:
        import_judgments(pair, qrels, JudgmentFields(annotator_name="nist"), FileLayout("qrels"))
    assert "--annotator NIST" in refused.value.way_out


def test_the_address_of_somebody_is_asked_about_too(pair: Store, write: Callable[..., Path]) -> None:
    add_annotator(pair, "ann", "annotator", None, "ann@x.org")
    path = write("j.csv", LONG + "q1,d1,Ann@X.org,2\nq1,d2,ann@x.org,1\n")
    with pytest.raises(InputError) as refused:
        import_judgments(pair, path)
    assert refused.value.problems == [
        "line 2: the annotator 'Ann@X.org' differs from 'ann@x.org', the address of 'ann', by upper and "
        "lower case",
        "line 3: the annotator 'ann@x.org' has the address of 'ann' for a name",
    ]
    mapped = parse_annotator_map("Ann@X.org=ann,ann@x.org=ann")
    import_judgments(pair, path, JudgmentFields(annotator_map=mapped))
    assert judged_pairs(pair) == [("ann", "d1", 2), ("ann", "d2", 1)]


def test_of_two_grades_by_one_person_the_later_counts(pair: Store) -> None:
    done = import_judgments(pair, case("writings/twice_with_times.csv"))
    assert judged_pairs(pair) == [("ann", "d1", 3), ("ann", "d2", 2)]
    assert done.left_out == {
        "an earlier grade by the same person for the same pair": 1,
        "the same judgment again": 1,
    }


TIMED = "query_id,doc_id,rater,grade,submitted_at\n"


@pytest.mark.parametrize(
    "times", ["", ",2026-05-01 10:00", "2026-05-01 10:00,", "2026-05-01 10:00,2026-05-01T12:00+02:00"]
)
def test_two_grades_with_one_time_or_without_are_a_conflict(
    pair: Store, write: Callable[..., Path], times: str
) -> None:
    first, _, second = times.partition(",")
    with pytest.raises(InputError, match="line 3: ann gives the pair"):
        import_judgments(pair, write("j.csv", f"{TIMED}q1,d1,ann,1,{first}\nq1,d1,ann,2,{second}\n"))


def test_the_latest_of_many_counts_wherever_it_is(pair: Store, write: Callable[..., Path]) -> None:
    rows = [
        (2, "2026-05-03"),
        (0, "2026-05-01"),
        (1, "2026-05-01"),
        (2, "2026-05-03"),
        (3, "2026-05-02T23:00-05:00"),
    ]
    text = "".join(f"q1,d1,ann,{grade},{time}\n" for grade, time in rows)
    done = import_judgments(pair, write("j.csv", TIMED + text))
    assert judged_pairs(pair) == [("ann", "d1", 3)]
    assert done.left_out == {"an earlier grade by the same person for the same pair": 4}


def test_words_for_no_value_are_no_grade_in_a_wide_table(pair: Store, write: Callable[..., Path]) -> None:
    text = case("writings/wide_nan_words.csv").read_text().replace("w,b", "q1,d").replace("d0", "d3")
    wide = JudgmentFields(annotator_columns={"A": "A", "B": "B"})
    done = import_judgments(pair, write("wide.csv", text), wide)
    assert judged_pairs(pair) == [("A", "d1", 3), ("A", "d3", 0), ("B", "d3", 1)]
    assert done.left_out == {"no grade": 5}


@pytest.mark.parametrize(
    "word", ["", "NaN", "nan", "NULL", "None", "NA", "N/A", "#N/A", "<NA>", "-", "–", "\\N", ". "]
)
def test_each_word_for_no_value_is_no_grade(pair: Store, write: Callable[..., Path], word: str) -> None:
    done = import_judgments(pair, write("j.csv", f"{LONG}q1,d1,ann,{word}\nq1,d2,ann,1\n"))
    assert (judged_pairs(pair), done.left_out) == ([("ann", "d2", 1)], {"no grade": 1})


def test_a_grade_map_knows_no_grade_and_its_hint_is_valid(pair: Store, write: Callable[..., Path]) -> None:
    rows = 'q1,d1,ann,"good, really"\nq1,d2,ann,it\'s "bad"\nq1,d3,ann,skipped\n'
    path = write("j.csv", LONG + rows)
    with pytest.raises(InputError) as refused:
        import_judgments(pair, path, grade_map=parse_grade_map("maybe=cannot-tell, skipped=no-grade"))
    (hint,) = shlex.split(refused.value.way_out.partition("--grade-map ")[2])
    grade_map = parse_grade_map(hint.replace("really=?", "really=3").replace("=?", "=0"))
    assert grade_map == {"maybe": None, "skipped": -1, "good, really": 3, 'it\'s "bad"': 0}
    done = import_judgments(pair, path, grade_map=grade_map)
    assert (judged_pairs(pair), done.left_out) == ([("ann", "d1", 3), ("ann", "d2", 0)], {"no grade": 1})
    assert parse_grade_map("None=1,-=cannot-tell") == {"none": 1, "-": None}


def test_a_guides_own_word_is_a_grade(pair: Store, write: Callable[..., Path]) -> None:
    done = import_judgments(
        pair, write("j.csv", f"{LONG}q1,d1,ann,None\nq1,d2,ann,2\n"), grade_map=parse_grade_map("none=0,2=2")
    )
    assert (judged_pairs(pair), done.left_out) == ([("ann", "d1", 0), ("ann", "d2", 2)], {})


def test_times_of_all_kinds_are_read(store: Store) -> None:
    log = import_traffic(store, case("writings/times.csv"))
    times = rows_of(store, "SELECT text, time::TEXT FROM traffic WHERE time IS NOT NULL ORDER BY line")
    assert [time for text, time in times if text in ("tea pot", "cup", "spoon", "fork")] == [
        "2026-10-25 00:30:00",
        "2026-10-25 00:30:00",
        "2026-10-25 02:30:00",
        "2026-10-25 00:30:00",
    ]
    assert (log.unknown_times, log.unreadable_time) == (1, "'2026-13-45' on line 11")


def test_the_line_of_excel_that_names_the_separator_is_no_header(
    store: Store, write: Callable[..., Path]
) -> None:
    import_corpus(store, write("corpus.jsonl", [{"id": "b1", "text": "kettle"}]))
    import_queries(store, write("queries.jsonl", [{"id": "w", "text": "water"}]))
    import_judgments(store, case("writings/excel_sep_line.csv"), BY_ANN)
    assert judged_pairs(store) == [("ann", "b1", 3)]


@pytest.mark.parametrize("sign", [";", ",", "\t", "|", "^"])
@pytest.mark.parametrize("line", ["sep={}\r\n", "SEP={}\n", '"sep={}"\r\n', "\ufeffsep={}\n"])
@pytest.mark.parametrize("name", ["log.csv", "log.txt"])
def test_each_separator_is_taken_and_lines_keep_their_numbers(
    store: Store, write: Callable[..., Path], sign: str, line: str, name: str
) -> None:
    head = line.format(sign)
    text = f'{head}query{sign}count\nred{sign}2\n"a, b; c{sign}d"{sign}3\n'
    log = import_traffic(store, write(name, text), layout=FileLayout("csv" if sign == "\t" else None))
    assert (log.rows, log.traffic) == (2, 5)
    with pytest.raises(InputError, match="line 3: the count"):
        import_traffic(store, write(name, f"{head}query{sign}count\nred{sign}x\n"), layout=FileLayout("csv"))


def test_a_column_that_is_called_sep_is_a_column(store: Store, write: Callable[..., Path]) -> None:
    log = import_traffic(store, write("log.csv", "query,sep=a\ntea,1\n"))
    assert log.rows == 1
