"""Releases: frozen, content-addressed gold sets.

A release is a set of named parts, each a text of canonical JSON lines (`content`). Its id is the hash of the
parts' names and SHA-256 sums (`frozen`): no name, time or person is in it, so the same labels give the same
id wherever they are frozen. Documents are pinned by their content hashes; their texts stay in the corpus.
Grades of its sealed parts are handed out through one gate, for a reason that is logged (`seal`).
"""

from curation.releases.export import Exported, export
from curation.releases.freeze import Frozen, freeze
from curation.releases.verify import Verified, verify

__all__ = ["Exported", "Frozen", "Verified", "export", "freeze", "verify"]
