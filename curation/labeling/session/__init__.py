"""The annotators' screen: upcoming items, texts, submissions, history."""
