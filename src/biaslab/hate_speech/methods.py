"""What a method's name says: a classifier, its regularization, and quirks of the published code.

A name is ``KIND[-ALPHA][@QUIRK[+QUIRK...]]``, such as ``vanilla``, ``soc-0.1`` or ``oc-0.1@dropout+sum``. One
method has one name, since results lie in folders that are called by it.
"""

import re
from dataclasses import dataclass

from biaslab.core.errors import InputError, suggest

VANILLA = "vanilla"
BOW, BOW_WR = LINEAR = ("bow", "bow-wr")
PLAIN = (*LINEAR, VANILLA, "wr")
"""Classifiers without regularization: bag of words and encoder, each without and with word removal (WR)."""
OC, SOC, EAR = REGULARIZED = ("oc", "soc", "ear")
"""Encoders regularized by input occlusion, by sampling and occlusion, and by the entropy of attention."""

DROPOUT, INDEPENDENT, PAD, SUM = QUIRKS = ("dropout", "independent", "pad", "sum")
"""What the published code does: fresh dropout in the passes with and without a word; left and right contexts
sampled independently; sampled special tokens become [PAD]; the regularizer is summed over the sentences of a
batch. Without these quirks there is no dropout in these passes, the left context is sampled given the right
one, special tokens are never sampled, and the regularizer is a mean over sentences, as the loss is."""
PUBLISHED = "published"
"""Stands for all quirks that a kind can have."""
QUIRKS_OF = {OC: (DROPOUT, SUM), SOC: QUIRKS}
"""OC samples nothing, so that two of the quirks have no meaning there."""


@dataclass(frozen=True)
class Method:
    """A classifier and how it is trained."""

    name: str
    kind: str  # one of `PLAIN` or `REGULARIZED`
    alpha: float = 0.0  # strength of the regularization (Kennedy et al. 2020, Eq. 2); 0 for kinds without
    removes_words: bool = False  # whether identifiers are removed from all texts, in training and in use
    quirks: frozenset[str] = frozenset()  # those of `QUIRKS` that hold

    @classmethod
    def parse(cls, name: str) -> "Method":
        """Return the method that a name says."""
        return parse_method(name)

    @property
    def is_encoder(self) -> bool:
        """Whether it is an encoder, and not a bag of words."""
        return self.kind not in LINEAR

    @property
    def explains(self) -> bool:
        """Whether explanations of identifiers are regularized; with a strength of 0 they are not."""
        return self.kind in (OC, SOC) and self.alpha > 0


def parse_method(name: str) -> Method:
    """Return the method that a name says."""
    base, at, tail = name.partition("@")
    kind, alpha = _kind(name, base)
    quirks = _quirks(name, kind, tail.split("+") if at else [])
    spelled = _spell(kind, alpha, quirks)
    if name != spelled:
        raise InputError(f"method '{name}' is written '{spelled}'; write it so, for one method has one name")
    return Method(name, kind, alpha, kind in ("bow-wr", "wr"), frozenset(quirks))


def _kind(name: str, base: str) -> tuple[str, float]:
    """Return the kind and the strength that the part before the quirks says."""
    if base in PLAIN:
        return base, 0.0
    kind, _, number = base.partition("-")
    if kind not in REGULARIZED:
        known = (*PLAIN, *(f"{k}-0.1" for k in REGULARIZED))
        raise InputError(f"no method is called '{name}'{suggest(base, known)} (there are {', '.join(known)})")
    if not re.fullmatch(r"\d+(\.\d+)?|\.\d+|\d+(\.\d+)?e-?\d+", number):
        raise InputError(f"method '{name}': {kind} needs its strength; write for instance '{kind}-0.1'")
    return kind, float(number)


def _quirks(name: str, kind: str, words: list[str]) -> list[str]:
    """Return the quirks that hold, in the order of `QUIRKS`."""
    possible = QUIRKS_OF.get(kind, ())
    known = (*possible, PUBLISHED) if possible else ()
    for word in words:
        if word not in known:
            has = f"{kind} has {', '.join(known) or 'none'}"
            raise InputError(f"method '{name}': no quirk '{word}'{suggest(word, known)} ({has})")
    return [q for q in possible if PUBLISHED in words or q in words]


def _spell(kind: str, alpha: float, quirks: list[str]) -> str:
    base = kind if kind in PLAIN else f"{kind}-{alpha:g}"
    if quirks and quirks == list(QUIRKS_OF[kind]):
        quirks = [PUBLISHED]
    return base + ("@" + "+".join(quirks) if quirks else "")
