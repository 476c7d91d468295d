"""Sentences about refused uploads, shared by the server and the pages."""

from __future__ import annotations

INTERRUPTED = "This upload was interrupted. Send the file again."
NO_LENGTH = "The upload does not state the file's length."
PERSON_LIMIT = "You have too many uploads in progress. Close other tabs, or remove files."
SERVER_LIMIT = "The server is busy with other uploads. Try again in a few minutes."

SENTENCES_BY_STATUS = {408: INTERRUPTED, 411: NO_LENGTH, 413: PERSON_LIMIT, 503: SERVER_LIMIT}
"""HTTP status → the sentence about the refused upload."""
