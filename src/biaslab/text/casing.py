"""Capital letters of words that are put in place of others, or that follow a word that is left out."""

_ENDS = (".", "!", "?", "…")
_OPENERS = " \t\n\r\"'“”‘’«»([{*_-–—"


def match_case(word: str, replaced: str) -> str:
    """Return a word in the case of the word that it replaces: all capitals, first capitals, or as it is."""
    letters = [letter for letter in replaced if letter.isalpha()]
    if len(letters) > 1 and replaced.isupper():
        return word.upper()
    if letters and letters[0].isupper():
        rest = replaced.split()[1:]
        if rest and all(part[:1].isupper() for part in rest):
            return " ".join(map(capitalize, word.split(" ")))
        return capitalize(word)
    return word


def capitalize(text: str) -> str:
    """Return a text with its first letter, behind quotes and brackets, as a capital; the rest as it is."""
    start = len(text) - len(text.lstrip(_OPENERS))
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


def starts_sentence(before: str) -> bool:
    """Tell whether what follows a piece of text is the first word of a sentence."""
    before = before.rstrip(_OPENERS)
    return not before or before.endswith(_ENDS)
