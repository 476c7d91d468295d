"""Coverage, what is kept in memory: one state of the project, until anything is appended to it."""

from __future__ import annotations

import streamlit as st

from curation.core.errors import RefusedError
from curation.evaluation.region_graph import RegionGraph, region_graph_of
from curation.queries.coverage.state import CoverageState, read_state, state_fingerprint
from curation.store import Store

KEPT = 4
"""States that are kept."""


def kept_state(store: Store) -> CoverageState | None:
    """The state of coverage; None where there is no map of the corpus in force."""
    with store.reading() as cursor:
        fingerprint = state_fingerprint(cursor)
    return _state(store, (str(store.path), fingerprint))


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the coverage map…")
def _state(_store: Store, state: tuple[str, str]) -> CoverageState | None:
    try:
        with _store.reading() as cursor:
            return read_state(cursor)
    except RefusedError:
        return None


def kept_graph(store: Store, state: CoverageState) -> RegionGraph:
    """The regions and their places, which depend on the map alone."""
    return _graph(state, (str(store.path), state.map.map_id))


@st.cache_resource(max_entries=KEPT, show_spinner="Placing the regions…")
def _graph(_state: CoverageState, key: tuple[str, str]) -> RegionGraph:
    return region_graph_of(_state)
