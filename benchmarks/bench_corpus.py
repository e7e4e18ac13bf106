"""The corpus of the benchmarks: Simple English Wikipedia if it is at hand, else a made one of its size."""

import os
import sys
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.embeddings.corpus import build_corpus
from biaslab.embeddings.readers import read_documents
from biaslab.run.data import datasets

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
DATASET = "simplewiki-2021"
MIRROR = "BIASLAB_MIRROR"


def load():
    """Return tokens (n,) int32, offsets (n_documents + 1,) int64, the words and a description."""
    registry = datasets.load_registry(REPOSITORY / "workflow/resources/datasets.tsv")
    try:
        path = sys.argv[1] if len(sys.argv) > 1 else None
        source = datasets.resolve(registry[DATASET], path, os.environ.get(MIRROR))
    except InputError as error:
        print(f"{error}\n(or name a file, or a mirror folder in {MIRROR}; here a made corpus is taken)")
        return made()
    built = build_corpus(
        read_documents(source.location, "jsonl"),
        unit="article",
        part_length=None,
        min_length=200,
        max_length=10_000,
        max_tokens=20_000_000,
        min_count=15,
    )
    return built.tokens, built.offsets, list(built.vocabulary["word"]), DATASET


def made(n_words=31_923, n_documents=25_917, n_tokens=12_551_833):
    """Draw words independently with Zipf's frequencies, as many as the real corpus has."""
    rng = np.random.default_rng(0)
    cumulative = np.cumsum(1 / np.arange(1, n_words + 1))
    drawn = np.searchsorted(cumulative, rng.random(n_tokens) * cumulative[-1]).astype(np.int32)
    order = np.argsort(-np.bincount(drawn, minlength=n_words), kind="stable")
    rank = np.empty(n_words, np.int32)
    rank[order] = np.arange(n_words)
    offsets = np.linspace(0, n_tokens, n_documents + 1).astype(np.int64)
    return rank[drawn], offsets, [f"word{i}" for i in range(n_words)], "made corpus"
