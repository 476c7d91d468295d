"""The sentences about refused uploads by HTTP status, for the server and for the pages."""

from __future__ import annotations

BROKEN_OFF = "This upload was interrupted. Send the file again."
NO_LENGTH = "The upload does not state the length of the file."
OF_ONE_FULL = "You have too many open uploads. Close other tabs or remove files."
OF_ALL_FULL = "The server has too many uploads in memory. Try again in some minutes."

SENTENCES = {408: BROKEN_OFF, 411: NO_LENGTH, 413: OF_ONE_FULL, 503: OF_ALL_FULL}
"""By status."""
