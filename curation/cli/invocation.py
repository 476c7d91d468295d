"""The current call of `goldgrade`: its project, its author and reason, and the options given."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation.core.errors import InputError

if TYPE_CHECKING:
    from curation.people.seal_access import SealAccess
    from curation.store import Store

JSON = "--json"
_project: ContextVar[Path] = ContextVar("project")
interruption_note: ContextVar[str] = ContextVar(
    "interruption_note", default="The contents of the project are unchanged."
)
"""The sentence about finished work, which the command prints if it is interrupted now."""
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_json: ContextVar[bool] = ContextVar("json", default=False)
_audit_options: ContextVar[dict[str, str]] = ContextVar("author")
"""The values of --as and --reason that were given, by option."""
_unread_options: ContextVar[set[str]] = ContextVar("unread", default=set())  # noqa: B039  replaced by each call
"""The given options of `goldgrade` itself that no command has read yet."""


def begin_call(project: Path, name: str | None, reason: str | None, quiet: bool, as_json: bool) -> None:
    """Set the options of `goldgrade` itself for the command that follows."""
    _project.set(project)
    _quiet.set(quiet)
    _json.set(as_json)
    values = {"--as": name, "--reason": reason}
    _audit_options.set({option: value for option, value in values.items() if value is not None})
    _unread_options.set({*_audit_options.get(), *([JSON] if as_json else [])})


def list_unread_options() -> list[str]:
    """List the options of `goldgrade` itself that were given but not read by the command."""
    return sorted(_unread_options.get())


def project_path() -> Path:
    """Return the project file named by --project, by $GOLDGRADE_PROJECT or by default."""
    return _project.get()


def is_quiet() -> bool:
    """Return whether the option --quiet was given on the command line."""
    return _quiet.get()


def is_json() -> bool:
    """Return whether --json was given, and note that a command has read the option."""
    _unread_options.get().discard(JSON)
    return _json.get()


def project_store(with_arrow: bool = True) -> Store:
    """Open the project named on the command line; commands that do not need Arrow start faster without it."""
    from curation.store import open_store

    if with_arrow:
        from curation.core.arrow import hide_pandas

        hide_pandas()
    return open_store(project_path())


def release_store() -> Store:
    """Open the project if it exists: a packed release works without a project."""
    from curation.core.arrow import hide_pandas
    from curation.store import store_at

    hide_pandas()
    return store_at(project_path())


def actor() -> str:
    """Return the name given with --as, by default the command line."""
    from curation.store import COMMAND_LINE

    return _read_option("--as") or COMMAND_LINE


def seal_reason() -> str | None:
    """Return the reason to open sealed grades; None without --reason, in which case sealed grades are left
    out."""
    return _read_option("--reason")


def stated_reason() -> str:
    """Return the reason for the audit trail; '' without --reason."""
    return seal_reason() or ""


def required_reason() -> str:
    """Return the reason given with --reason, or raise an error.

    Raises
    ------
    InputError: --reason was not given.
    """
    if reason := stated_reason():
        return reason
    raise InputError('This command needs a reason, which is logged. Add --reason "why".')


def open_seal(store: Store, purpose: str) -> SealAccess:
    """Open the releases' seals for a purpose if --reason was given; otherwise sealed values are left out."""
    from curation.people.seal_access import unseal

    return unseal(store, purpose, seal_reason(), actor())


def find_query_id(store: Store, name: str) -> str:
    """Find a query's id from its id or text."""
    from curation.ingest.importers.known_queries import find_query_id

    return store.read(find_query_id, name)


def _read_option(option: str) -> str | None:
    """Return the value of --as or --reason, and note that a command has read the option."""
    _unread_options.get().discard(option)
    return _audit_options.get().get(option)


def find_given_flags(context: typer.Context) -> dict[str, str]:
    """Map each parameter that was given on the command line to its option."""
    return {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if parameter.name and _is_given(context, parameter.name)
    }


def refuse_unused(context: typer.Context, reason: str, *names: str) -> None:
    """Reject options that a call of the command would ignore; without names refuse all given options.

    Raises
    ------
    InputError: such an option was given. The error names the options and the reason.
    """
    unused = [flag for name, flag in find_given_flags(context).items() if not names or name in names]
    if "reason" in names and seal_reason() is not None:
        unused.append("--reason")
    if unused:
        raise InputError(f"{', '.join(unused)} has no effect here: {reason}.")


def refuse_others(context: typer.Context, reason: str, *allowed_names: str) -> None:
    """Reject options of a command that were given but are not among `allowed_names`."""
    if refused := [name for name in find_given_flags(context) if name not in allowed_names]:
        refuse_unused(context, reason, *refused)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
