"""Commands of ``biaslab embeddings``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.embeddings import BASELINE
from biaslab.run.options import (
    CheckpointMinutes,
    CorpusVocabulary,
    Dimension,
    EmbeddingsVocabulary,
    Glove,
    Out,
    Seed,
    Threads,
    grouped,
)
from biaslab.run.outputs import To

if TYPE_CHECKING:
    import numpy as np

CorpusFile = Annotated[Path, typer.Argument(help="Word ids of the corpus (.npz).")]
Trainings = Annotated[list[Path], typer.Argument(help="Batch files of trained embeddings (.npz).")]
Sets = Annotated[Path | None, typer.Option(help="Documents of every set (.parquet).")]
Count = Annotated[int, typer.Option(help="Number of replicates to train.", min=1)]


@dataclass(frozen=True)
class CorpusFiles:
    """Where a corpus goes that was read."""

    corpus: Annotated[Path, typer.Option(help="Where the word ids go (.npz)."), To.FILE]
    documents: Annotated[Path, typer.Option(help="Where the table of documents goes (.parquet)."), To.FILE]
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes (.tsv)."), To.FILE]


@dataclass(frozen=True)
class Choice:
    """What of a corpus is kept, and cut into which units."""

    unit: Annotated[str, typer.Option(help="What can be removed: article or part.")] = "article"
    part_length: Annotated[int | None, typer.Option(help="Tokens a part, for the unit 'part'.")] = None
    min_length: Annotated[int, typer.Option(help="Leave out articles with fewer tokens.")] = 1
    max_length: Annotated[int | None, typer.Option(help="Leave out articles with more tokens.")] = None
    max_tokens: Annotated[int | None, typer.Option(help="Stop when the articles have this many.")] = None
    min_count: Annotated[int, typer.Option(help="Leave out words that occur less often.")] = 1


@dataclass(frozen=True)
class Removal:
    """The documents to remove before a training."""

    set: Annotated[str, typer.Option(help=f"The set of documents to remove; '{BASELINE}' removes nothing.")]
    corpus: Annotated[Path | None, typer.Option(help="Word ids of the corpus (.npz), to remove from.")] = None
    sets: Sets = None
    paired: Annotated[
        bool, typer.Option("--paired", help="Differ from the baselines by the removal alone, seed by seed.")
    ] = False


@dataclass(frozen=True)
class Word2vec:
    """Hyperparameters of word2vec."""

    dimension: Dimension
    window: Annotated[int, typer.Option(help="Words on either side that count as context, at most.")]
    epochs: Annotated[int, typer.Option(help="Passes over the corpus.")]
    learning_rate: Annotated[float, typer.Option(help="Step size at the beginning.")] = 0.025


@dataclass(frozen=True)
class Replicates:
    """Which trainings to do, that differ in their random numbers."""

    first: Annotated[int, typer.Option(help="First replicate to train.", min=0)] = 0
    count: Count = 1

    @property
    def numbers(self) -> list[int]:
        """Their numbers."""
        return list(range(self.first, self.first + self.count))


app = typer.Typer(help="Corpora, co-occurrences and word embeddings.", no_args_is_help=True)


@app.command("read-corpus")
@grouped
def read_corpus(
    source: Annotated[Path, typer.Argument(help="The corpus: a file, or a folder for 'folder' and 'nitf'.")],
    format: Annotated[str, typer.Option(help="mediawiki, jsonl, text, folder or nitf.")],
    to: CorpusFiles,
    choice: Choice,
) -> None:
    """Read a corpus: tokenise, choose articles and vocabulary, cut the units that can be removed."""
    from biaslab.embeddings.corpus import build_corpus, write_corpus
    from biaslab.embeddings.readers import read_documents

    built = build_corpus(read_documents(source, format), **vars(choice))
    for key, column in built.renamed.items():
        typer.echo(
            f"{source}: the key '{key}' is kept as '{column}': documents have a {key} of ours", err=True
        )
    write_corpus(built, to.corpus, to.documents, to.vocabulary)


@app.command("count-cooccurrences")
def count_cooccurrences(
    corpus: CorpusFile,
    vocabulary: CorpusVocabulary,
    window: Annotated[int, typer.Option(help="Words on either side that count as context.")],
    out: Out,
    threads: Threads = 1,
) -> None:
    """Count the co-occurrences of a corpus, exactly."""
    from biaslab.embeddings import cooccurrence
    from biaslab.embeddings.corpus import read_tokens
    from biaslab.embeddings.vocabulary import read_vocabulary

    words = read_vocabulary(vocabulary)
    counts = cooccurrence.count(*read_tokens(corpus, words), len(words), window, threads)
    cooccurrence.write(out, counts)


@app.command("train-glove")
@grouped
def train_glove(
    cooccurrence: Annotated[Path, typer.Option(help="Co-occurrences of the whole corpus (.npz).")],
    removal: Removal,
    model: Glove,
    seed: Seed,
    out: Out,
    trainings: Replicates,
    checkpoint_minutes: CheckpointMinutes = 30,
    threads: Threads = 1,
) -> None:
    """Train GloVe on the corpus, or on what is left of it without a set of documents."""
    from biaslab.core.errors import InputError
    from biaslab.core.io import read_npz
    from biaslab.embeddings import cooccurrence as counts
    from biaslab.embeddings import glove, retraining

    x, name = counts.read(cooccurrence), removal.set
    if name != BASELINE:
        if removal.corpus is None or removal.sets is None:
            raise InputError(f"--set {name}: to remove documents give --corpus and --sets, too")
        documents = _documents(removal.sets, name)
        arrays = read_npz(removal.corpus, ("tokens", "offsets"))
        pruned = retraining.without_documents(x, arrays["tokens"], arrays["offsets"], documents, threads)
        x = retraining.on_entries_of(x, pruned) if removal.paired else pruned
    parameters, replicates = glove.GloveParameters(**vars(model)), trainings.numbers
    partner = BASELINE if removal.paired else None
    trained = retraining.train_replicates(
        x, parameters, name, replicates, seed, out, 60 * checkpoint_minutes, threads, partner
    )
    glove.write_trainings(out, replicates, trained, every_parameter=name == BASELINE)
    retraining.discard_checkpoints(out)


@app.command("train-word2vec")
@grouped
def train_word2vec(
    corpus: CorpusFile,
    vocabulary: CorpusVocabulary,
    set: Annotated[
        str, typer.Option(help=f"The set of documents to leave out; '{BASELINE}' leaves out none.")
    ],
    model: Word2vec,
    seed: Seed,
    out: Out,
    sets: Sets = None,
    trainings: Count = 1,
) -> None:
    """Train word2vec (CBOW) on the corpus, or on what is left of it without a set of documents."""
    import numpy as np

    from biaslab.core.errors import InputError
    from biaslab.core.io import write_npz
    from biaslab.embeddings import word2vec
    from biaslab.embeddings.corpus import read_tokens
    from biaslab.embeddings.vocabulary import read_vocabulary

    words = read_vocabulary(vocabulary)
    tokens, offsets = read_tokens(corpus, words)
    if set != BASELINE:
        if sets is None:
            raise InputError(f"--set {set}: to leave documents out give --sets, too")
        tokens, offsets = word2vec.leave_out(tokens, offsets, _documents(sets, set))
    parameters = word2vec.Word2VecParameters(**vars(model))
    replicates = np.arange(trainings)
    W = word2vec.train_replicates(tokens, offsets, len(words), parameters, set, replicates.tolist(), seed)
    write_npz(out, replicates=replicates, W=W)


@app.command("collect-losses")
def collect_losses(
    batches: Trainings,
    out: Out,
) -> None:
    """Collect the loss after every epoch of every training in one table."""
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.batches import collect_losses

    write_tsv(out, collect_losses(batches))


@app.command("analogies")
def analogies(
    batches: Trainings,
    vocabulary: EmbeddingsVocabulary,
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
    vocabulary: EmbeddingsVocabulary,
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


def _documents(sets: Path, name: str) -> "np.ndarray":
    """Return the documents of a set, of which there must be some."""
    from biaslab.core.errors import InputError
    from biaslab.core.io import read_parquet

    table = read_parquet(sets, ["set", "document"])
    documents = table.loc[table["set"] == name, "document"].to_numpy()
    if not len(documents):
        raise InputError(f"{sets}: there is no set '{name}'; select the sets again")
    return documents
