"""What annotators' screens read and send: upcoming items, texts, submitted answers and history."""
