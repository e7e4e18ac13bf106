"""Commands of ``biaslab embeddings``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.run.options import Out, Seed, Threads

app = typer.Typer(help="Corpora, co-occurrences and word embeddings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""


@app.command("read-corpus")
def read_corpus(
    source: Annotated[Path, typer.Argument(help="The corpus: a file, or a folder for 'folder' and 'nitf'.")],
    format: Annotated[str, typer.Option(help="mediawiki, jsonl, text, folder or nitf.")],
    corpus: Annotated[Path, typer.Option(help="Where the word ids go (.npz).")],
    documents: Annotated[Path, typer.Option(help="Where the table of documents goes (.parquet).")],
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes (.tsv).")],
    unit: Annotated[str, typer.Option(help="What can be removed: article or part.")] = "article",
    part_length: Annotated[int | None, typer.Option(help="Tokens a part, for the unit 'part'.")] = None,
    min_length: Annotated[int, typer.Option(help="Leave out articles with fewer tokens.")] = 1,
    max_length: Annotated[int | None, typer.Option(help="Leave out articles with more tokens.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Stop when the articles have this many.")] = None,
    min_count: Annotated[int, typer.Option(help="Leave out words that occur less often.")] = 1,
) -> None:
    """Read a corpus: tokenise, choose articles and vocabulary, cut the units that can be removed."""
    from biaslab.embeddings.corpus import build_corpus, write_corpus
    from biaslab.embeddings.readers import read_documents

    built = build_corpus(
        read_documents(source, format),
        unit=unit,
        part_length=part_length,
        min_length=min_length,
        max_length=max_length,
        max_tokens=max_tokens,
        min_count=min_count,
    )
    write_corpus(built, corpus, documents, vocabulary)


@app.command("count-cooccurrences")
def count_cooccurrences(
    corpus: Annotated[Path, typer.Argument(help="Word ids of the corpus (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the corpus (.tsv).")],
    window: Annotated[int, typer.Option(help="Words on either side that count as context.")],
    out: Out,
    threads: Threads = 1,
) -> None:
    """Count the co-occurrences of a corpus, exactly."""
    from biaslab.core.io import read_npz
    from biaslab.embeddings import cooccurrence
    from biaslab.embeddings.vocabulary import read_vocabulary

    arrays = read_npz(corpus, ("tokens", "offsets"))
    n_words = len(read_vocabulary(vocabulary))
    cooccurrence.write(out, cooccurrence.count(arrays["tokens"], arrays["offsets"], n_words, window, threads))


@app.command("train-glove")
def train_glove(
    cooccurrence: Annotated[Path, typer.Option(help="Co-occurrences of the whole corpus (.npz).")],
    set: Annotated[str, typer.Option(help="The set of documents to remove; 'baseline' removes nothing.")],
    dimension: Annotated[int, typer.Option(help="D, length of a word vector.")],
    epochs: Annotated[int, typer.Option(help="Passes over the co-occurrences.")],
    seed: Seed,
    out: Out,
    corpus: Annotated[
        Path | None, typer.Option(help="Word ids of the corpus (.npz), to remove from.")
    ] = None,
    sets: Annotated[Path | None, typer.Option(help="Documents of every set (.parquet).")] = None,
    x_max: Annotated[float, typer.Option(help="Co-occurrence from which on the weight is 1.")] = 100.0,
    alpha: Annotated[float, typer.Option(help="Exponent of the weight below x-max.")] = 0.75,
    learning_rate: Annotated[float, typer.Option(help="AdaGrad's step size.")] = 0.05,
    first: Annotated[int, typer.Option(help="First replicate to train.", min=0)] = 0,
    count: Annotated[int, typer.Option(help="Number of replicates to train.", min=1)] = 1,
    checkpoint_minutes: Annotated[float, typer.Option(help="Minutes between checkpoints.", min=0)] = 30,
    paired: Annotated[
        bool, typer.Option("--paired", help="Differ from the baselines by the removal alone, seed by seed.")
    ] = False,
    threads: Threads = 1,
) -> None:
    """Train GloVe on the corpus, or on what is left of it without a set of documents."""
    from biaslab.core.errors import InputError
    from biaslab.core.io import read_npz
    from biaslab.embeddings import cooccurrence as counts
    from biaslab.embeddings import glove, retraining

    x = counts.read(cooccurrence)
    is_baseline = set == "baseline"
    if not is_baseline:
        if corpus is None or sets is None:
            raise InputError(f"--set {set}: to remove documents give --corpus and --sets, too")
        documents = _documents(sets, set)
        arrays = read_npz(corpus, ("tokens", "offsets"))
        pruned = retraining.without_documents(x, arrays["tokens"], arrays["offsets"], documents, threads)
        x = retraining.on_entries_of(x, pruned) if paired else pruned
    parameters = glove.GloveParameters(dimension, epochs, x_max, alpha, learning_rate)
    replicates = list(range(first, first + count))
    trained = retraining.train_replicates(
        x,
        parameters,
        set,
        replicates,
        seed,
        out,
        60 * checkpoint_minutes,
        threads,
        "baseline" if paired else None,
    )
    glove.write_trainings(out, replicates, trained, every_parameter=is_baseline)
    retraining.discard_checkpoints(out)


@app.command("train-word2vec")
def train_word2vec(
    corpus: Annotated[Path, typer.Argument(help="Word ids of the corpus (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the corpus (.tsv).")],
    set: Annotated[str, typer.Option(help="The set of documents to leave out; 'baseline' leaves out none.")],
    dimension: Annotated[int, typer.Option(help="D, length of a word vector.")],
    window: Annotated[int, typer.Option(help="Words on either side that count as context, at most.")],
    epochs: Annotated[int, typer.Option(help="Passes over the corpus.")],
    seed: Seed,
    out: Out,
    sets: Annotated[Path | None, typer.Option(help="Documents of every set (.parquet).")] = None,
    learning_rate: Annotated[float, typer.Option(help="Step size at the beginning.")] = 0.025,
    trainings: Annotated[int, typer.Option(help="Number of replicates to train.", min=1)] = 1,
) -> None:
    """Train word2vec (CBOW) on the corpus, or on what is left of it without a set of documents."""
    import numpy as np

    from biaslab.core.errors import InputError
    from biaslab.core.io import read_npz, write_npz
    from biaslab.embeddings import word2vec
    from biaslab.embeddings.vocabulary import read_vocabulary

    arrays = read_npz(corpus, ("tokens", "offsets"))
    tokens, offsets = arrays["tokens"], arrays["offsets"]
    if set != "baseline":
        if sets is None:
            raise InputError(f"--set {set}: to leave documents out give --sets, too")
        tokens, offsets = word2vec.leave_out(tokens, offsets, _documents(sets, set))
    parameters = word2vec.Word2VecParameters(dimension, window, epochs, learning_rate)
    n_words, replicates = len(read_vocabulary(vocabulary)), np.arange(trainings)
    W = word2vec.train_replicates(tokens, offsets, n_words, parameters, set, replicates.tolist(), seed)
    write_npz(out, replicates=replicates, W=W)


@app.command("collect-losses")
def collect_losses(
    batches: Annotated[list[Path], typer.Argument(help="Batch files of trained embeddings (.npz).")],
    out: Out,
) -> None:
    """Collect the loss after every epoch of every training in one table."""
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.batches import collect_losses

    write_tsv(out, collect_losses(batches))


@app.command("analogies")
def analogies(
    batches: Annotated[list[Path], typer.Argument(help="Batch files of trained embeddings (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")],
    out: Out,
    questions: Annotated[
        Path | None, typer.Option(help="Analogy questions; by default gensim's questions-words.txt.")
    ] = None,
) -> None:
    """Measure how many analogies each embedding solves (TOP-1)."""
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.analogies import default_questions, evaluate_trainings
    from biaslab.embeddings.batches import read_trainings
    from biaslab.embeddings.vocabulary import read_vocabulary

    words = read_vocabulary(vocabulary).words
    table = evaluate_trainings(read_trainings(batches, len(words)), words, questions or default_questions())
    write_tsv(out, table)


@app.command("export")
def export(
    batch: Annotated[Path, typer.Argument(help="Batch file of trained embeddings (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")],
    replicate: Annotated[int, typer.Option(help="Which training of the batch.")],
    format: Annotated[str, typer.Option(help="word2vec, word2vec-binary or glove.")],
    out: Out,
) -> None:
    """Write the word vectors of one training in the format of another tool."""
    from biaslab.embeddings.batches import read_training
    from biaslab.embeddings.formats import write_embedding
    from biaslab.embeddings.vocabulary import read_vocabulary

    words = read_vocabulary(vocabulary).words
    write_embedding(out, words, read_training(batch, replicate, len(words)).W, format)


def _documents(sets: Path, name: str):
    """Return the documents of a set, of which there must be some."""
    from biaslab.core.errors import InputError
    from biaslab.core.io import read_parquet

    table = read_parquet(sets, ["set", "document"])
    documents = table.loc[table["set"] == name, "document"].to_numpy()
    if not len(documents):
        raise InputError(f"{sets}: there is no set '{name}'; select the sets again")
    return documents
