"""Commands of ``biaslab embeddings``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.embeddings import BASELINE
from biaslab.embeddings.settings import FORMATS_SAID, Checkpoints, Choice, GloveParameters, format_of
from biaslab.run.options import (
    CorpusSource,
    CorpusVocabulary,
    EmbeddingsVocabulary,
    Out,
    Seed,
    Threads,
    grouped,
)
from biaslab.run.outputs import To


@dataclass(frozen=True)
class CorpusFiles:
    """Where a corpus goes that was read."""

    corpus: Annotated[Path, typer.Option(help="Where the word ids go (.npz)."), To.FILE]
    documents: Annotated[Path, typer.Option(help="Where the table of documents goes (.parquet)."), To.FILE]
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes (.tsv)."), To.FILE]


@dataclass(frozen=True, kw_only=True)
class Training(Checkpoints):
    """Which trainings of which set of documents to do."""

    set: Annotated[str, typer.Option(help=f"The set of documents to remove; '{BASELINE}' removes nothing.")]
    corpus: Annotated[Path | None, typer.Option(help="Word ids of the corpus (.npz), to remove from.")] = None
    sets: Annotated[Path | None, typer.Option(help="Documents of every set (.parquet).")] = None
    paired: Annotated[
        bool, typer.Option("--paired", help="Differ from the baselines by the removal alone, seed by seed.")
    ] = False
    first: Annotated[int, typer.Option(help="First replicate to train.", min=0)] = 0
    count: Annotated[int, typer.Option(help="Number of replicates to train.", min=1)] = 1


app = typer.Typer(help="Corpora, co-occurrences and word embeddings.", no_args_is_help=True)


@app.command("read-corpus")
@grouped
def read_corpus(
    source: CorpusSource,
    to: CorpusFiles,
    choice: Choice,
    format: Annotated[
        str | None, typer.Option(help=f"{FORMATS_SAID}; by default what the name tells.")
    ] = None,
) -> None:
    """Read a corpus: tokenise, choose articles and vocabulary, cut the units that can be removed."""
    from biaslab.embeddings import corpus

    format = format or format_of(source)
    corpus.read_corpus(source, format, choice, **vars(to), say=lambda line: typer.echo(line, err=True))


@app.command("count-cooccurrences")
def count_cooccurrences(
    corpus: Annotated[Path, typer.Argument(help="Word ids of the corpus (.npz).")],
    vocabulary: CorpusVocabulary,
    window: Annotated[int, typer.Option(help="Words on either side that count as context.")],
    out: Out,
    threads: Threads = 1,
) -> None:
    """Count the co-occurrences of a corpus, exactly."""
    from biaslab.embeddings.counting import count_corpus

    count_corpus(corpus, vocabulary, window, out, threads)


@app.command("train-glove")
@grouped
def train_glove(
    cooccurrence: Annotated[
        Path,
        typer.Option(
            help="Co-occurrences of the whole corpus (.npz), or cooccurrence.bin of Stanford's GloVe."
        ),
    ],
    model: GloveParameters,
    seed: Seed,
    out: Out,
    training: Training,
    vocabulary: Annotated[
        Path | None, typer.Option(help="vocab.txt of Stanford's GloVe, for its cooccurrence.bin.")
    ] = None,
    threads: Threads = 1,
) -> None:
    """Train GloVe on the corpus, or on what is left of it without a set of documents.

    The result is the same, byte for byte, with any number of threads.
    """
    from biaslab.embeddings import retraining

    retraining.train_glove(
        cooccurrence,
        model=model,
        seed=seed,
        out=out,
        threads=threads,
        vocabulary=vocabulary,
        **vars(training),
    )


@app.command("export")
def export(
    batch: Annotated[Path, typer.Argument(help="Batch file of trained embeddings (.npz).")],
    vocabulary: EmbeddingsVocabulary,
    replicate: Annotated[int, typer.Option(help="Which training of the batch.")],
    format: Annotated[str, typer.Option(help="word2vec, word2vec-binary or glove.")],
    out: Out,
) -> None:
    """Write the word vectors of one training in the format of another tool."""
    from biaslab.embeddings.batches import read_training
    from biaslab.embeddings.formats import write_embedding
    from biaslab.embeddings.vocabulary import read_vocabulary

    known = read_vocabulary(vocabulary)
    write_embedding(out, known.words, read_training(batch, replicate, known).W, format)
