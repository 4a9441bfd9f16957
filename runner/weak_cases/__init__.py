"""How weak are the assertions of cases? Answers that a user would hate, graded again; and what is printed of it."""
