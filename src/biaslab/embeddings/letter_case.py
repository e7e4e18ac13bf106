"""The one rule by which words are found in an embedding: as they are written, else in another case."""

from collections.abc import Iterator, Mapping, Set

__all__ = ["AnyCase"]


class AnyCase(Mapping):
    """The rows of words, also of words that an embedding has in another case of letters alone.

    Attributes
    ----------
    recased : dict of str to str
        Words that were asked for and found in another case, and how the embedding writes them.
    undirected : dict of str to None
        Words that were asked for whose vectors are zero; the embedding lacks them.
    """

    def __init__(self, ids: Mapping[str, int], zero: Set[str] = frozenset()) -> None:
        self._ids = ids
        self._zero = zero
        self.recased: dict[str, str] = {}
        self.undirected: dict[str, None] = {}

    @property
    def exact(self) -> Mapping[str, int]:
        """The rows of words as they are written alone."""
        return self._ids

    def __getitem__(self, word: str) -> int:
        """Return the row of a word as it is written, else in lower case, Capitalized, in upper case."""
        forms = (word, word.lower(), word.capitalize(), word.upper())
        form = next((form for form in forms if form in self._ids), word)
        if form not in self._ids and not self._zero.isdisjoint(forms):
            self.undirected[word] = None
        row = self._ids[form]
        if form != word:
            self.recased[word] = form
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
