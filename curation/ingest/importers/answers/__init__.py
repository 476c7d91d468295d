"""What files and people say of good answers: reference answers, and nuggets."""
