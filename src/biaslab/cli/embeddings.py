"""Commands of ``biaslab embeddings``."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from biaslab.cli.output import say
from biaslab.core.errors import InputError
from biaslab.embeddings.settings import (
    FORMATS_SAID,
    Choice,
    GloveParameters,
    Word2VecParameters,
    Words,
    format_of,
)
from biaslab.run.commands.options import Out, Seed, Threads, grouped


class Method(enum.StrEnum):
    """Algorithms."""

    GLOVE = "glove"
    WORD2VEC = "word2vec"


class Format(enum.StrEnum):
    """Formats of word vectors."""

    WORD2VEC = "word2vec"
    WORD2VEC_BINARY = "word2vec-binary"
    GLOVE = "glove"


Written = Annotated[Format, typer.Option("--format", help="The format of the vectors.")]
_GLOVE = GloveParameters(dimension=100, epochs=50)
_WINDOW = 8

app = typer.Typer(help="Train word embeddings, and convert them between formats.", no_args_is_help=True)


@app.command("train")
@grouped
def train(
    source: Annotated[
        Path,
        typer.Argument(
            help="Texts: a file (.gz, .bz2 and .zst are allowed) or a folder of files. Or cooccurrence.bin of"
            " Stanford's GloVe, with --vocabulary."
        ),
    ],
    out: Out,
    words: Words,
    method: Annotated[Method, typer.Option(help="The algorithm.")] = Method.GLOVE,
    dimension: Annotated[int, typer.Option(help="Dimension of the word vectors.", min=1)] = _GLOVE.dimension,
    window: Annotated[int, typer.Option(help="Context words on each side.", min=1)] = _WINDOW,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the data; by default 50 for glove, 5 for word2vec.", min=1)
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Learning rate; by default .05 for glove, .025 for word2vec.")
    ] = None,
    x_max: Annotated[
        float, typer.Option(help="Smallest co-occurrence with weight 1, for glove.")
    ] = _GLOVE.x_max,
    corpus_format: Annotated[
        str | None, typer.Option(help=f"{FORMATS_SAID}; by default from the file name.")
    ] = None,
    vocabulary: Annotated[
        Path | None, typer.Option(help="vocab.txt of Stanford's GloVe, for its cooccurrence.bin.")
    ] = None,
    format: Written = Format.WORD2VEC,
    seed: Seed = 1,
    threads: Threads = 1,
) -> None:
    """Train word vectors on texts with GloVe or word2vec.

    The result is the same, byte for byte, with any number of threads.
    """
    from biaslab.embeddings.cooccurrence import RECORDS_SUFFIX
    from biaslab.embeddings.training import train_on_counts, train_on_texts

    if method == Method.GLOVE:
        model = GloveParameters(
            dimension, epochs or _GLOVE.epochs, x_max, learning_rate=learning_rate or _GLOVE.learning_rate
        )
    else:
        rate = learning_rate or Word2VecParameters.learning_rate
        model = Word2VecParameters(dimension, window, epochs or 5, rate)
    if source.suffix == RECORDS_SUFFIX:
        if method != Method.GLOVE:
            raise InputError(f"{source}: counts are for --method glove; give texts to word2vec")
        train_on_counts(source, vocabulary, model, seed, out, format, threads)
        return
    read_as, choice = corpus_format or format_of(source), Choice(min_count=words.min_count)
    train_on_texts(source, read_as, choice, model, window, seed, out, format, threads, say=say)


@app.command("convert")
def convert(
    source: Annotated[
        Path, typer.Argument(help="A word2vec, .vec or GloVe file, or a batch of trainings (.npz).")
    ],
    out: Out,
    format: Written,
    vocabulary: Annotated[
        Path | None,
        typer.Option(help="Vocabulary of a batch; by default the vocabulary.tsv next to the batch."),
    ] = None,
    replicate: Annotated[int, typer.Option(help="Number of the training in a batch.")] = 0,
) -> None:
    """Write word vectors in another format."""
    from biaslab.embeddings.formats import write_embedding
    from biaslab.embeddings.unit import read_vectors

    words, vectors, notes = read_vectors(source, vocabulary, replicate)
    for note in notes:
        say(note)
    write_embedding(out, words, vectors, format)
