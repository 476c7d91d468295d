"""`goldset import X` is `import_/x.py`: files that are brought into the project."""

from __future__ import annotations

from curation.cli.goldset import command_group
from curation.cli.import_.answers import import_answers_command
from curation.cli.import_.collection import import_collection_command
from curation.cli.import_.corpus import import_corpus_command
from curation.cli.import_.judgments import import_judgments_command
from curation.cli.import_.queries import import_queries_command
from curation.cli.import_.run import import_run_command
from curation.cli.import_.traffic import import_traffic_command

imports = command_group(
    "import",
    "Bring a corpus, a log, queries, runs or judgments in. Answers of systems and whole collections, too.",
)
imports.command("corpus")(import_corpus_command)
imports.command("traffic")(import_traffic_command)
imports.command("queries")(import_queries_command)
imports.command("answers")(import_answers_command)
imports.command("judgments")(import_judgments_command)
imports.command("run")(import_run_command)
imports.command("collection")(import_collection_command)
