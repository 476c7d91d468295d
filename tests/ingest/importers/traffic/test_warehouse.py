"""A log counted where it is: the statement's result is imported as the rows would be."""

from __future__ import annotations

import random
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta

import duckdb
import pytest
import sqlglot
from pyarrow.csv import write_csv

from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.importers.traffic.warehouse import DIALECTS, log_statement
from curation.ingest.readers.fields import TrafficFields
from curation.operations.project import init_project
from curation.queries.sampling.request import SamplingPlan
from curation.queries.sampling.sample import draw_sample
from tests.support.command_line import invoke
from tests.support.projects import rows_of

FIELDS = TrafficFields("q", "asked at", "shop", "who")
COUNTED = CleaningRules(repeat_minutes=0, queries_a_minute=0, queries_a_day=0)
TEXTS = ["red shoes", "Red  Shoes ", "hat", "mail a@b.com", "", "x" * 300, "röcke 42", "it's", "a,b"]


def log_rows(people=60):
    """(time, session, segment, text): pages that are turned, three robots, and rows without a session."""
    draw, start = random.Random(4), datetime(2026, 1, 1, 20)
    rows = []
    for person in range(people):
        now, last = start + timedelta(hours=draw.randrange(48)), "hat"
        who = None if person % 9 == 0 else f" s{person} " if person % 7 == 0 else f"s{person}"
        for _ in range(draw.randrange(1, 25)):
            now += timedelta(seconds=draw.choice([30, 700, 1800, 1801, 9000]))
            fresh = f"item {int(draw.paretovariate(0.7)) % 90}"
            last = draw.choice([last, last.upper(), fresh, draw.choice(TEXTS)])
            rows.append((now, who, draw.choice(["de", "en", None]), last))
    robots = [("r1", 21, 2), ("r2", 201, 300), ("r3", 20, 2)]  # the last is just slow enough
    for who, times, seconds in robots:
        begin = datetime(2026, 1, 5)
        rows += [(begin + timedelta(seconds=seconds * n), who, "de", f"item {n}") for n in range(times)]
    return rows


def warehouse():
    """A database that holds the log."""
    connection = duckdb.connect()
    connection.execute('CREATE TABLE log ("asked at" TIMESTAMP, who VARCHAR, shop VARCHAR, q VARCHAR)')
    times, visitors, shops, texts = map(list, zip(*log_rows(), strict=True))
    connection.execute(
        "INSERT INTO log SELECT unnest(?), unnest(?), unnest(?), unnest(?)", [times, visitors, shops, texts]
    )
    return connection


def imported(path, folder, fields=None, rules=None):
    """What a project has after the import, and its sample."""
    store = init_project(folder / f"{path.stem}.duckdb").store
    found = import_traffic(store, path, fields, rules=rules)
    drawn = draw_sample(store, 30, seed=5, plan=SamplingPlan(strata=("band", "segment")))
    asked = "normalised, segment, time::DATE, sum(count)::BIGINT"
    traffic = rows_of(store, f"SELECT {asked} FROM traffic GROUP BY ALL ORDER BY ALL")
    sample = rows_of(store, "SELECT * FROM sample_queries JOIN queries USING (query_id) ORDER BY query_id")
    return found, traffic, drawn.strata, [row[:-1] for row in sample]


def counted_as_rows(connection, count, folder, unit="day", rules=None):
    """The imports of the rows and of what `count` makes of them have the same traffic, strata and sample."""
    raw, counted = folder / "raw.csv", folder / "counted.csv"
    connection.sql("FROM log ORDER BY hash(q), q, who, shop").write_csv(str(raw))
    count(raw, counted)
    of_rows, of_counts = imported(raw, folder, FIELDS), imported(counted, folder, rules=rules)
    assert of_counts[1:] == of_rows[1:]
    assert of_counts[0].personal.keys() == of_rows[0].personal.keys() == {"email"}
    assert of_counts[0].sessions == (0 if unit == "day" else of_rows[0].sessions)
    return of_rows[0].rows, of_counts[0].rows


@pytest.mark.parametrize(("unit", "rules"), [("day", None), ("session", COUNTED)])
def test_a_counted_log_gives_the_traffic_strata_and_sample_of_its_rows(tmp_path, unit, rules):
    connection = warehouse()
    statement = log_statement("duckdb", "log", FIELDS, CleaningRules(), unit)
    rows, counted = counted_as_rows(
        connection,
        lambda raw, to: connection.sql(statement.sql).write_csv(str(to)),
        tmp_path,
        unit,
        rules,
    )
    assert counted < rows


def test_postgres_counts_a_log_as_its_rows(tmp_path):
    if not shutil.which("psql") or subprocess.run(["psql", "-c", ""], capture_output=True).returncode:
        pytest.skip("no PostgreSQL answers psql; PGHOST and PGUSER name one")
    query = log_statement("postgres", "log", FIELDS, CleaningRules()).sql

    def count(raw, to):
        script = f"""
        CREATE TEMPORARY TABLE log ("asked at" timestamp, who text, shop text, q text);
        \\copy log FROM '{raw}' WITH (FORMAT csv, HEADER)
        CREATE TEMPORARY VIEW counted AS {query};
        \\copy (SELECT * FROM counted) TO '{to}' WITH (FORMAT csv, HEADER)
        """
        lines = "\n".join(line.strip() for line in script.splitlines())
        subprocess.run(["psql", "-v", "ON_ERROR_STOP=1"], input=lines, text=True, check=True)

    counted_as_rows(warehouse(), count, tmp_path)


def test_spark_counts_a_log_as_its_rows(tmp_path):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    settings = {"spark.sql.session.timeZone": "UTC", "spark.ui.enabled": "false"}
    spark = sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    schema = "`asked at` timestamp_ntz, who string, shop string, q string"
    try:
        spark.createDataFrame(log_rows(), schema).createOrReplaceTempView("log")
        found = spark.sql(log_statement("spark", "log", FIELDS, CleaningRules()).sql).toArrow()
    finally:
        spark.stop()
    counted_as_rows(warehouse(), lambda raw, to: write_csv(found, to), tmp_path)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_reads_its_statement_and_sqlglot_warns_of_nothing(dialect, caplog):
    fields = replace(FIELDS, count="n", metadata=("device",))
    for rules in (CleaningRules(), COUNTED):
        sql = log_statement(dialect, "shop.searches", fields, rules).sql
        assert sqlglot.parse_one(sql, read=dialect).sql(dialect, pretty=True) == sql
    assert not caplog.records


def test_the_command_prints_the_statement_and_how_its_result_is_imported():
    command = (
        "import traffic shop.searches --print-sql spark --time-field at --session-field who --per session"
    )
    done = invoke([*command.split(), "--metadata-field", "device"])
    assert "FROM shop.searches AS log" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "-- goldgrade import traffic RESULT.parquet --metadata-field device "
        "--repeat-minutes 0 --bot-per-minute 0 --bot-per-day 0"
    )
    assert "FROM log AS log" in invoke(["import", "traffic", "--print-sql", "trino"]).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--print-sql oracle", "The dialect is 'oracle'; expected one of spark, bigquery"),
        ("--print-sql spark --per hour", "counted by 'hour'; expected day or session"),
        ("--print-sql spark --per session", "name it with --session-field"),
        ("a;b --print-sql spark", "'a;b' is no table's name"),
        ("--print-sql spark --known-rows", "--known-rows would change nothing: --print-sql prints"),
        ("log.csv --per day", "--per would change nothing: no dialect is named with --print-sql"),
        ("", "name a file, or a dialect with --print-sql"),
    ],
)
def test_what_no_statement_can_be_made_of_is_said(arguments, sentence):
    done = invoke(["import", "traffic", *arguments.split()])
    assert done.exit_code in (1, 2)
    assert sentence in " ".join(f"{done.exception} {done.stderr}".split())
