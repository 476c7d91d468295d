"""What is refused before anything is read: rules between options, for the command and the page alike."""

from __future__ import annotations

from collections.abc import Sequence

from curation.errors import InputError, refuse_problems


def run_problems(systems: Sequence[str], first_stage: str | None, turning: bool) -> list[str]:
    """What runs are missing for reranking, and for documents that could turn the order of systems.

    Parameters
    ----------
    systems: the name of the system of each run.
    """
    problems = []
    known, times = sorted(set(systems)), systems.count(first_stage or "")
    if first_stage is not None and times != 1:
        what = "several runs have that name" if times else "no run has that name"
        problems.append(
            f"The first stage {first_stage}: {what}; expected one of {', '.join(known)}, with one run."
        )
    elif first_stage is not None and len(known) < 2:
        problems.append(f"The first stage {first_stage}: there is no other run that reranks its candidates.")
    if turning and len(known) < 2:
        problems.append(
            "Documents that could turn the order are looked for between two systems, and there is one: add "
            "a run of another one."
        )
    return problems


def refuse_unfitting(
    *,
    runs: bool,
    answers: bool,
    ladder: bool,
    about_runs: Sequence[str],
    about_answers: Sequence[str],
    further: Sequence[str] = (),
) -> None:
    """Stop where something is asked that no file was named for, or that the Ladder does not show.

    Parameters
    ----------
    runs, answers: whether any were named.
    ladder: whether the answer is the Ladder's.
    about_runs, about_answers, further: what is asked about runs, about answers, and about either, as the
        person who asks calls it.

    Raises
    ------
    InputError: with all of it.
    """
    if not runs and not answers:
        raise InputError("There is no file to evaluate: name at least one run, or one file of answers.")
    asked = [*about_runs, *about_answers, *further]
    if ladder and asked:
        raise InputError(
            f"The Ladder shows nothing but its answer, so {', '.join(asked)} cannot go with it: leave that "
            "out. Of a sealed part leads see the other figures, without the Ladder."
        )
    problems = [f"{what} is about runs, and there is none" for what in about_runs if not runs]
    problems += [f"{what} is about answers, and there are none" for what in about_answers if not answers]
    refuse_problems(problems, way_out="Name the files with it.")
