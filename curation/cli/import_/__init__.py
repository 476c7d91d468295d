"""`goldgrade import X`: files that are brought into the project."""

from __future__ import annotations

from curation.cli.import_ import kinds
from curation.cli.import_.collection import import_collection_command
from curation.cli.import_.logs import delete_log_command, logs_command
from curation.cli.program import command_group

imports = command_group(
    "import",
    "Bring a corpus, a log, queries, runs or judgments in. Answers of systems and whole collections, too.",
)
imports.command("corpus")(kinds.import_corpus_command)
imports.command("traffic")(kinds.import_traffic_command)
imports.command("queries")(kinds.import_queries_command)
imports.command("answers")(kinds.import_answers_command)
imports.command("nuggets")(kinds.import_nuggets_command)
imports.command("judgments")(kinds.import_judgments_command)
imports.command("run")(kinds.import_run_command)
imports.command("collection")(import_collection_command)
imports.command("logs")(logs_command)
imports.command("delete-log")(delete_log_command)
