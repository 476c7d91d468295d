"""Questions that a language model writes for documents, without traffic and without a coverage map."""
