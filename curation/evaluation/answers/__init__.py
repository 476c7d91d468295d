"""Systems that answer: exact match and token F1 against reference answers, and people's grades of answers."""
