"""A help centre's FAQ, its search log and two people's grades, all made up here; and the path over them.

Nothing was copied and nobody was logged. 96 services with 11 questions each are 1,056 entries. An entry
answers a search if both are the same. The other questions about the service, and the same question about
other services, are what a search engine ranks next to it, and they do not answer.
"""

from __future__ import annotations

import csv
import json
import shlex
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from curation.labeling.judging import Submission
from curation.labeling.session.submit import submit_judgments
from curation.store import open_store
from tests.support.command_line import invoke
from tests.support.projects import rows_of

SERVICES = """
    parcel locker|gift card|season ticket|library pass|bike rental|guest wifi|meal plan|parking permit|
    loyalty account|museum tour|laundry room|storage box|gym membership|travel insurance|photo print|
    repair voucher|language course|seat reservation|data roaming|power bank|garden plot|tool loan|
    music lesson|charging station|pet sitting|window cleaning|dance class|rail voucher|ferry crossing|
    camp site|cinema evening|swim lane|tennis court|meeting room|desk booking|coffee subscription|
    flower delivery|grocery basket|laptop loan|printer credit|phone contract|home broadband|smart meter|
    solar panel|heating plan|water supply|waste pickup|snow removal|school bus|taxi account|scooter hire|
    car wash|winter tyre|fuel discount|toll badge|harbour berth|ski pass|theatre box|concert seat|
    festival wristband|zoo visit|castle walk|city map|audio guide|hotel night|breakfast buffet|spa day|
    sauna slot|yoga course|boxing club|climbing wall|running group|chess league|choir practice|
    pottery workshop|sewing studio|photo lab|recording booth|news archive|science journal|exam certificate|
    student hostel|alumni network|career fair|job board|tax adviser|legal clinic|notary appointment|
    blood test|dental check|eye examination|vaccine record|baby monitor|senior helpline|funeral wreath|
    wedding hall
""".replace("\n", " ")
QUESTIONS = {
    "cancel": "cancel|stop|end early",
    "renew": "renew|extend|prolong",
    "refund": "refund|money back|reimbursement",
    "lost": "lost|missing|cannot find",
    "price": "price|cost|how expensive",
    "share": "share with a friend|second person|family use",
    "address": "new address|moved house|change street",
    "hours": "opening hours|when open|sunday",
    "receipt": "receipt|invoice|tax bill",
    "broken": "broken|damaged|out of order",
    "login": "login|password|sign in",
}
WORDS = """
    counter app letter week month station floor desk form code sticker locker staff phone number bank day
    office key card proof photo page button list date name building entrance notice reminder message
""".split()
HEAD, TAIL = 25, 25
DEPTH, RANDOM_NEGATIVES = 11, 10
PEOPLE = ("mia", "tom")
PASSWORD = "a long password\n"


def _services() -> list[str]:
    return [name.strip() for name in SERVICES.split("|")]


def _body(service: str, question: str) -> str:
    """Sentences of its own words, so that entries of one question are no near-copies of each other."""
    random = Random(f"{service} {question}")
    wordings = QUESTIONS[question].split("|")
    told = [" ".join(random.sample(WORDS, 7)) for _ in range(4)]
    return (
        f"{wordings[0].capitalize()} {service}: {told[0]}. {told[1].capitalize()} for your {service}. "
        f"{told[2].capitalize()}, {wordings[1]}. {told[3].capitalize()}."
    )


def entry_id(service: str, question: str) -> str:
    return f"{service.replace(' ', '-')}-{question}"


def write_corpus(path: Path) -> None:
    """The entries, one JSON line each."""
    rows = [
        {
            "id": entry_id(service, question),
            "title": f"{service.capitalize()}: {QUESTIONS[question].split('|')[0]}",
            "text": _body(service, question),
        }
        for service, question in product(_services(), QUESTIONS)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def searches() -> dict[str, tuple[str, str]]:
    """Text of a search → the service and the question that it is about; each entry is asked for once."""
    found = {}
    for place, (service, question) in enumerate(product(_services(), QUESTIONS)):
        wordings = QUESTIONS[question].split("|")
        found[f"{wordings[place % len(wordings)]} {service}"] = (service, question)
    return found


def write_traffic(path: Path) -> None:
    """A log in which 90 searches are asked again and again, 60 now and then, and the others once."""
    order = sorted(searches(), key=lambda text: Random(f"log {text}").random())
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "count"])
        for place, text in enumerate(order):
            writer.writerow([text, 50 - place // 9 if place < 90 else 8 if place < 150 else 1])


def grade(text: str, document_id: str) -> int:
    """1 where the entry answers the search, else 0."""
    return int(entry_id(*searches()[text]) == document_id)


def slips(person: str, text: str, document_id: str, again: bool) -> bool:
    """Whether a person grades a presentation wrongly: only the second one does, one in some forty.

    Mostly it is an entry about the same service, and at a blind duplicate chance decides anew.
    """
    service, _ = searches()[text]
    near = document_id.startswith(service.replace(" ", "-"))
    chance = Random(f"slip {text} {document_id}{' again' if again else ''}").random()
    return person == PEOPLE[1] and chance < (0.04 if near else 0.005)


class GradedRound(NamedTuple):
    """What was answered: presentations by person, and the pairs on which the two people differ."""

    graded: dict[str, int]
    differ: int


def grade_round(path: Path) -> GradedRound:
    """Answer all of the open round as the grading page does, blind duplicates too."""
    store = open_store(path)
    sql = """SELECT annotator, presentation_id, text, document_id, duplicate_of IS NOT NULL
        FROM presentations JOIN queries USING (query_id) ORDER BY annotator, position"""
    given: dict[str, list[Submission]] = {person: [] for person in PEOPLE}
    differ = 0
    for person, presentation_id, text, document_id, again in rows_of(store, sql):
        right = grade(text, document_id)
        wrong = slips(person, text, document_id, again)
        differ += wrong and not again
        said = 1 - right if wrong else right
        given[person].append(Submission(presentation_id, 0, "grade", f"faq {presentation_id}", said))
    for person, found in given.items():
        assert {outcome.status for outcome in submit_judgments(store, person, found)} == {"saved"}
    store.close()
    return GradedRound({person: len(found) for person, found in given.items()}, differ)


def write_decisions(path: Path, pairs: list[tuple[str, str]]) -> None:
    """The reviewer's grades of disputed pairs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "document", "grade"])
        writer.writerows([(text, document_id, grade(text, document_id)) for text, document_id in pairs])


def commands(folder: Path) -> dict[str, str]:
    """What a lead types, by step; `folder` has the files and gets the runs."""
    fields = "--map query=query --map document=document"
    people = ",".join(PEOPLE)
    measured = f"--run {folder / 'runs' / 'bm25.trec'} --measures recall@5,success@5,mrr@10 --breakdown type"
    return {
        "init": "init --guide binary",
        "corpus": f"import corpus {folder / 'faq.jsonl'}",
        "traffic": f"import traffic {folder / 'log.csv'}",
        "sample": f"sample --size {HEAD + TAIL} --seed 1 --quota head={HEAD} --quota tail={TAIL}",
        "pool": f"pool --systems bm25 --depth {DEPTH} --random-negatives {RANDOM_NEGATIVES} --seed 1",
        **{name: f"people add {name} --role annotator --password-stdin" for name in PEOPLE},
        "round": f"round open first --annotators {people} --overlap 2 --duplicates 0.08 --seed 1",
        "close": "round set first closed",
        "agreement": "agreement --breakdown type",
        "disputes": "disputes --limit 1000",
        "decisions": f"decide --file {folder / 'decisions.csv'} {fields} --map grade=grade "
        "--reason 'read again'",
        "negatives": "negatives --negatives 10",
        "split": "split --part dev=0.7 --part test=0.3 --seed 1 --no-paraphrase",
        "freeze": "freeze v1",
        "card": "releases v1 --card",
        "run": f"baseline v1 --systems bm25 --out {folder / 'runs'}",
        "dev": f"evaluate v1 {measured} --part dev --hard-negatives",
        "test": f"evaluate v1 {measured} --part test --hard-negatives --reason 'the first figures'",
        **{
            f"pairs-{form}": f"export v1 --format {form} --out {folder / f'pairs-{form}'} "
            "--reason 'the labelled pairs'"
            for form in ("csv", "parquet")
        },
    }


def walk(folder: Path) -> dict[str, Any]:
    """Run all commands in a folder: step → what was printed as JSON; `notes` is the text of the agreement.

    `graded` is how many presentations each person answered, and `rows` and `parquet` are the rows of both
    files of labelled pairs.
    """
    write_corpus(folder / "faq.jsonl")
    write_traffic(folder / "log.csv")
    found: dict[str, Any] = {}
    for step, command in commands(folder).items():
        if step == "close":
            found["graded"], found["differ"] = grade_round(folder / "faq.duckdb")
        if step == "decisions":
            disputes = found["disputes"]["disputes"]
            write_decisions(
                folder / "decisions.csv", [(row["query"], row["document_id"]) for row in disputes]
            )
        arguments = ["--project", str(folder / "faq.duckdb"), *shlex.split(command), "--json"]
        done = invoke(arguments, input=PASSWORD, catch_exceptions=False)
        assert done.exit_code == 0, f"{step}: {done.output}"
        found[step] = json.loads(done.stdout)
        if step == "agreement":
            found["notes"] = " ".join(invoke(arguments[:-1]).stdout.split())
    found["rows"] = (folder / "pairs-csv" / "qrels.csv").read_text(encoding="utf-8").splitlines()
    found["parquet"] = pq.read_table(folder / "pairs-parquet" / "qrels.parquet").to_pylist()
    return found
