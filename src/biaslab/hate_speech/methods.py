"""Parse the name of a method: a classifier, its regularization, and quirks of the published code.

A name is ``KIND[-ALPHA][@QUIRK[+QUIRK...]]``, such as ``vanilla``, ``soc-0.1`` or ``oc-0.1@dropout+sum``. A
method has exactly one name, because it names the folder of its results.
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
"""Quirks of the published code: fresh dropout in both passes, with the word and without it; left and right
contexts sampled independently; sampled special tokens become [PAD]; the regularizer is summed over the
sentences of a batch. Without quirks, these passes have no dropout, the left context is sampled given the
right context, special tokens are never sampled, and the regularizer is a mean over sentences,
like the loss."""
PUBLISHED = "published"  # stands for all quirks that a method family can have
QUIRKS_OF = {OC: (DROPOUT, SUM), SOC: QUIRKS}
"""Quirks of each family; OC samples no contexts, so that two quirks do not apply."""


@dataclass(frozen=True)
class Method:
    """A classifier and how it is trained."""

    name: str
    kind: str  # one of `PLAIN` or `REGULARIZED`
    alpha: float = 0.0  # strength of the regularization (Kennedy et al. 2020, Eq. 2); 0 without
    removes_words: bool = False  # whether identifiers are removed from all texts, in training and in use
    quirks: frozenset[str] = frozenset()  # active quirks, from `QUIRKS`

    @property
    def is_encoder(self) -> bool:
        """Whether it is an encoder, and not a bag of words."""
        return self.kind not in LINEAR

    @property
    def explains(self) -> bool:
        """Whether explanations of identifiers are regularized: OC or SOC with a strength above 0."""
        return self.kind in (OC, SOC) and self.alpha > 0


def parse_method(name: str) -> Method:
    """Return the method of a name."""
    base, separator, tail = name.partition("@")
    kind, _, number = (base, "", "0") if base in PLAIN else base.partition("-")
    if base not in PLAIN and kind not in REGULARIZED:
        families = (*PLAIN, *(f"{k}-0.1" for k in REGULARIZED))
        near = suggest(base, families)
        raise InputError(f"there is no method '{name}'{near} (there are {', '.join(families)})")
    if not re.fullmatch(r"\d+(\.\d+)?|\.\d+|\d+(\.\d+)?e-?\d+", number):
        raise InputError(f"method '{name}': {kind} needs a strength; write for instance '{kind}-0.1'")
    alpha, words = float(number), tail.split("+") if separator else []
    possible = QUIRKS_OF.get(kind, ())
    choices = (*possible, PUBLISHED) if possible else ()
    for word in words:
        if word not in choices:
            listed = f"{kind} has {', '.join(choices) or 'none'}"
            raise InputError(f"method '{name}': no quirk '{word}'{suggest(word, choices)} ({listed})")
    quirks = [quirk for quirk in possible if PUBLISHED in words or quirk in words]
    names = [PUBLISHED] if quirks and quirks == list(QUIRKS_OF[kind]) else quirks
    spelling = "@".join([kind if kind in PLAIN else f"{kind}-{alpha:g}", *filter(None, ["+".join(names)])])
    if name != spelling:
        raise InputError(
            f"method '{name}' has the spelling '{spelling}'; use that name, as each method has one"
        )
    return Method(name, kind, alpha, kind in ("bow-wr", "wr"), frozenset(quirks))
