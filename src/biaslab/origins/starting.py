"""The first configuration of a person's own corpus, for ``biaslab init``: its question, at its size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from biaslab.bias.word_sets import read_word_sets
from biaslab.core.errors import InputError
from biaslab.embeddings.corpus import tokenize
from biaslab.embeddings.readers import read_documents
from biaslab.embeddings.settings import format_of
from biaslab.run.starting import Start, quoted

_MOST = 30_000_000
"""Tokens that are read: enough to tell the largest size."""

_DRAFT = """name: mine
title: what your test compares
source: your own
targets: # two sets of words: a positive effect size means that the first is nearer to the first attribute
  science: [science, technology, physics, chemistry, experiment, laboratory]
  arts: [poetry, art, dance, literature, novel, drama]
attributes:
  male: [male, man, boy, brother, he, him, his, son]
  female: [female, woman, girl, sister, she, her, hers, daughter]
"""


class Size(NamedTuple):
    """What suits a corpus of up to so many tokens."""

    tokens: int
    dimension: int
    epochs: int
    min_count: int


SIZES = (
    Size(200_000, 12, 300, 5),
    Size(2_000_000, 25, 150, 10),
    Size(_MOST, 75, 300, 15),
    Size(2**62, 200, 150, 15),
)
"""The two largest are the paper's (Table 3); the others are what the tutorial and the default were made with,
rounded: a dimension must stay below the number of contexts of the rarest word of a test."""

_SHARES = (0.01, 0.03, 0.1)
"""Shares of the documents that the sets are; the paper removes up to a tenth of Wiki's influential ones."""


def start(corpus: Path, options: Mapping[str, Any]) -> Start:
    """Return the section of a corpus, and the words of its test where ``test`` names no file with them."""
    format = format_of(corpus)
    lengths, is_whole = _lengths(corpus, format)
    if len(lengths) < 10:
        raise InputError(f"{corpus}: {len(lengths)} documents; write 10 or more, so that some can be removed")
    n_tokens = sum(lengths)
    size = next(one for one in SIZES if n_tokens <= one.tokens)
    sizes = sorted({max(1, round(share * len(lengths))) for share in _SHARES})
    test, files = options.get("test"), {}
    name = "mine"
    if test is None:
        test, files = "words.yaml", {"words.yaml": _DRAFT}
    else:
        name = read_word_sets(test).name
    shortest = min(50, max(1, sorted(lengths)[len(lengths) // 10]))
    text = f"""origins: # which documents of your corpus raise or lower the bias of word embeddings?
  run: [mine]
  weats:
    {quoted(name)}: {quoted(test)} # your test: two sets of target words, two of attributes
  setups:
    mine:
      corpus:
        source: {quoted(corpus)}
        format: {format}
        unit: article # what one removable document is
        min_length: {shortest} # tokens; shorter documents are left out
      vocabulary: {{min_count: {size.min_count}}}
      glove: {{dimension: {size.dimension}, epochs: {size.epochs}}}
      bias: {{weats: [{quoted(name)}]}}
      perturbations: {{sizes: {sizes}, random_sizes: {sizes}}}
      # What the paper compares with, and your question does not need. Take a line away to have it, too.
      ppmi_comparison: {{random_tests: 0}}
      word2vec: {{trainings: 0}}
      analogies: false
      single_documents: {{tails: 0, random: 0}}
"""
    more = "" if is_whole else " or more"
    said = f"{corpus}: {len(lengths):,}{more} documents of {n_tokens:,}{more} tokens"
    return Start(text, files, [said, *(f"write your own words into {file}" for file in files)])


def _lengths(corpus: Path, format: str) -> tuple[list[int], bool]:
    """Return the tokens of each document, of the first that together have enough; and whether it is all."""
    lengths, total = [], 0
    for document in read_documents(corpus, format, say=lambda line: None):
        lengths.append(len(tokenize(document.text)))
        total += lengths[-1]
        if total > _MOST:
            return lengths, False
    return lengths, True
