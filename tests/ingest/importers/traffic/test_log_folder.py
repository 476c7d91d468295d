"""A log of several files is one log: the project has what one file with all of its lines would give."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import RefusedError
from curation.ingest.importers.traffic import log_folder
from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.importers.traffic.known_rows import KNOWN
from curation.ingest.importers.traffic.log_folder import import_log_folder
from curation.ingest.importers.traffic.stored_logs import delete_log, read_stored_logs
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.store import put_setting
from tests.support import examples
from tests.support.command_line import invoke
from tests.support.projects import discard, new_project, rows_of

RULES = CleaningRules(queries_a_minute=3, queries_a_day=4)
HEADER = "query,time,session,segment\n"
ROWS = st.tuples(
    st.sampled_from(["tea", "Tea", "hat", "red shoes", "mug", "lamp", "jo@example.com", ""]),
    st.integers(0, 90),
    st.sampled_from(["", "s1", "s1", "s2", "s3"]),
    st.sampled_from(["", "de"]),
)


FIRST = ("cup", 0, "", "")


def lines(rows):
    return [
        f"{text},2026-01-01T10:{half // 2:02}:{half % 2 * 30:02},{who},{where}\n"
        for text, half, who, where in rows
    ]


def write_file(folder, name, some_lines):
    folder.mkdir(exist_ok=True)
    content = (HEADER + "".join(some_lines)).encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


def new_store(path):
    store = new_project(path)
    with store.transaction() as cursor:
        put_setting(cursor, "session_key", "ab" * 32)  # the same in all, so that their rows can be compared
    return store


def state(store):
    """What the logs of a project give: rows, and what was left out and redacted."""
    left_out = Counter()
    for (found,) in rows_of(store, "SELECT left_out FROM traffic_imports"):
        left_out += Counter(json.loads(found))
    columns = "text, normalised, time, segment, session, count, metadata"
    rows = rows_of(store, f"SELECT {columns} FROM traffic ORDER BY ALL")
    personal = rows_of(store, "SELECT kind, sum(rows) FROM traffic_personal_data GROUP BY kind ORDER BY kind")
    total = rows_of(store, "SELECT sum(rows) FROM traffic_imports")[0][0]
    assert total == len(rows)
    return rows, left_out, personal


def sample(store):
    found = draw_sample(store, DrawRequest(size=2, seed=7))
    drawn = "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries ORDER BY query_id"
    return found.strata, rows_of(store, drawn)


@pytest.mark.costly("each example imports a log twice")
@settings(max_examples=examples(20), deadline=None)
@given(
    rows=st.lists(ROWS, min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 39), max_size=4),
    readings=st.lists(st.booleans(), min_size=5, max_size=5),
    other=st.sets(st.integers(0, 39), max_size=6),
)
def test_however_a_log_is_cut_into_files_and_read_it_is_that_of_one_file(
    tmp_path_factory, rows, cuts, readings, other
):
    folder = tmp_path_factory.mktemp("log")
    every = [*dict.fromkeys(lines([FIRST, *rows]))]  # two files with the same lines are one
    ends = [*sorted(cut for cut in cuts if cut < len(every)), len(every)]
    one, several = new_store(folder / "one.duckdb"), new_store(folder / "several.duckdb")
    whole = write_file(folder, "whole.csv", every)
    if other:  # another log has some of the rows already
        held = [every[0], *(line for number, line in enumerate(every) if number in other)]
        for store in (one, several):
            import_traffic(store, write_file(folder, "other.csv", held), rules=RULES)
    import_traffic(one, whole, rules=RULES)
    for number, (start, end) in enumerate(pairwise([0, *ends])):
        write_file(folder / "log", f"{number}.csv", every[start:end])
        if readings[number] or end == len(every):
            import_log_folder(several, folder / "log", rules=RULES)
    assert state(several) == state(one)
    discard(one)
    discard(several)


PAGES = [("tea", 0, "s1", ""), ("hat", 0, "s2", "de"), ("tea", 4, "s1", ""), ("mug", 5, "s1", "")]
ROBOT = [(text, 6, "s2", "de") for text in ("a", "b", "c", "d")]


@pytest.fixture
def log(tmp_path):
    """A folder with a file. The next file continues a session of it, and makes another session a robot's."""
    write_file(tmp_path / "shop", "2026-01.csv", lines(PAGES[:2]))
    return tmp_path / "shop"


@pytest.mark.slow
def test_a_session_goes_on_in_the_next_file_and_only_that_is_read(log, tmp_path, store):
    first = import_log_folder(store, log, rules=RULES)
    assert (first.rows, first.files) == (2, (1, 0, 0, {}))
    write_file(log, "2026-02.csv.gz", lines(PAGES[2:]))
    second = import_log_folder(store, log, rules=RULES)
    assert (second.rows, second.left_out, second.files) == (1, {RULES.repeat: 1}, (1, 1, 0, {}))
    write_file(log, "2026-03.csv", lines(ROBOT))
    third = import_log_folder(store, log, rules=RULES)
    assert (third.rows, third.left_out) == (0, {RULES.robot: 4})
    assert rows_of(store, "SELECT normalised FROM traffic ORDER BY line, normalised") == [("tea",), ("mug",)]
    [held] = logs_of(store)
    assert (held.source, held.rows, held.traffic, len(held.imports)) == ("shop", 2, 2, 3)
    again = import_log_folder(store, log, rules=RULES)
    assert (again.is_new, again.files) == (False, (0, 3, 0, {}))
    whole = new_store(tmp_path / "whole.duckdb")
    import_traffic(whole, write_file(tmp_path, "whole.csv", lines(PAGES + ROBOT)), rules=RULES)
    assert sample(store) == sample(whole)
    whole.close()


def logs_of(store):
    with store.reading() as cursor:
        return read_stored_logs(cursor)


def test_sessions_of_a_large_reading_are_looked_at_in_parts(log, store, monkeypatch):
    write_file(log, "2026-02.csv", lines(PAGES[2:] + ROBOT))
    monkeypatch.setattr(log_folder, "MAX_ROWS_AT_ONCE", 1)
    found = import_log_folder(store, log, rules=RULES)
    assert (found.rows, found.left_out) == (2, {RULES.repeat: 1, RULES.robot: 5})


def test_a_file_that_has_changed_is_named_with_what_to_do(log, store, refused):
    import_log_folder(store, log)
    write_file(log, "2026-01.csv", lines(PAGES))
    write_file(log, "2026-02.csv", lines(ROBOT))
    message = str(refused(import_log_folder, log))
    assert message.startswith(f"{log / '2026-01.csv'}: has changed since it was imported. Nothing")
    assert f"`goldgrade import traffic --delete {logs_of(store)[0].import_id[:8]}`" in message
    delete_log(store, logs_of(store)[0].import_id)
    assert import_log_folder(store, log).files == (2, 0, 0, {})


def _rotate(path, is_zipped):
    """The next name: q.csv, q.csv.1, q.csv.2 or, as logrotate delays compression, q.csv.2.gz, and so on."""
    number = int(path.name.removesuffix(".gz").removeprefix("q.csv").lstrip(".") or 0) + 1
    content = path.read_bytes()
    path.unlink()
    ending = ".gz" if is_zipped and number > 1 else ""
    content = gzip.compress(content) if ending and number == 2 else content
    (path.parent / f"q.csv.{number}{ending}").write_bytes(content)


@settings(max_examples=examples(8), deadline=None)
@given(readings=st.lists(st.booleans(), min_size=5, max_size=5), is_zipped=st.booleans())
def test_a_log_that_rotates_has_each_of_its_lines_once(tmp_path_factory, readings, is_zipped):
    folder = tmp_path_factory.mktemp("log")
    store, log = new_store(folder / "project.duckdb"), folder / "log"
    for day, is_read in enumerate([*readings, True]):
        for name in sorted(log.glob("q.csv*"), reverse=True):
            _rotate(name, is_zipped)
        write_file(log, "q.csv", lines([(f"day {day}", day, "", "")]))
        if is_read:
            found = import_log_folder(store, log)
            assert found.files.gone == 0
            days = [text for (text,) in rows_of(store, "SELECT text FROM traffic ORDER BY text")]
            assert days == [f"day {number}" for number in range(day + 1)]
    assert not import_log_folder(store, log).is_new
    discard(store)


def test_a_file_that_was_read_is_known_by_another_name_and_named(log, store):
    (log / "2026-01.csv").write_text("query,count\ntea,10\nhat,5\n")
    import_log_folder(store, log)
    (log / "2026-01.csv").rename(log / "b.csv")
    (log / "c.csv").write_bytes((log / "b.csv").read_bytes())
    found = import_log_folder(store, log)
    assert (found.is_new, found.traffic) == (False, 15)
    assert found.files == (0, 1, 0, dict.fromkeys(("b.csv", "c.csv"), "2026-01.csv"))
    assert [one.traffic for one in logs_of(store)] == [15]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (HEADER + "tea,2026-01-01,s1,de\nhat\n", "line 3: 1 cell, expected 4"),
        (
            "q,when\ntea,2026-01-01\n",
            "line 1: the file has the fields query q; the files before it have query query, time time",
        ),
        (HEADER + "tea,yesterday,s1,de\n", "no time in 'time' could be read, such as 'yesterday' on line 2"),
    ],
)
def test_a_broken_file_is_named_and_nothing_is_imported(log, refused, content, sentence):
    (log / "2026-02.csv").write_text(content)
    write_file(log, "2026-03.csv", lines(PAGES))
    message = str(refused(import_log_folder, log))
    assert message.startswith(f"{log / '2026-02.csv'}: {sentence}")


def test_a_log_that_left_out_rows_of_another_is_deleted_before_it(log, store, tmp_path):
    import_log_folder(store, log)
    other = import_traffic(store, write_file(tmp_path, "other.csv", lines([("cup", 9, "s9", ""), *PAGES])))
    assert other.left_out[KNOWN] == 2
    with pytest.raises(RefusedError, match=r"other\.csv\) left out rows"):
        delete_log(store, logs_of(store)[0].import_id)
    delete_log(store, other.import_id)
    assert delete_log(store, logs_of(store)[0].import_id).rows == 2
    tables = ("traffic", "traffic_set_aside", "traffic_files", "traffic_imports", "traffic_personal_data")
    assert [rows_of(store, f"SELECT count(*) FROM {table}") for table in tables] == [[(0,)]] * len(tables)


def test_files_that_are_gone_keep_their_rows_and_the_command_says_so(log, store):
    goldgrade = ["--project", str(store.path), "import"]
    store.close()
    assert "1 file was read." in invoke([*goldgrade, "traffic", str(log)]).stdout
    (log / "2026-01.csv").unlink()
    write_file(log, "2026-02.csv", lines(PAGES))
    shown = invoke([*goldgrade, "traffic", str(log)]).stdout
    assert "1 file was read; 1 were read before." in shown
    assert "1 file is missing now; the imported rows are kept." in shown
    assert "│ shop" in invoke([*goldgrade, "traffic", "--list"]).stdout
