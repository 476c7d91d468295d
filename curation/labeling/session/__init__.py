"""What an annotator's screen gets: upcoming items, texts, history."""
