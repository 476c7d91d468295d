"""Evaluation of answers: exact match and token F1 against reference answers, and people's grades of
answers."""
