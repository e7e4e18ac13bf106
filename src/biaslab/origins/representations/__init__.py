"""The bias in other representations of the words, and on its axis."""
