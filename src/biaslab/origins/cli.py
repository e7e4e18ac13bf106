"""Commands of ``biaslab origins``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.run.options import (
    Baselines,
    CheckpointMinutes,
    CorpusVocabulary,
    EmbeddingsVocabulary,
    Glove,
    Out,
    Seed,
    Threads,
    Weighting,
    grouped,
    numbers,
)
from biaslab.run.outputs import To

if TYPE_CHECKING:
    from biaslab.bias.word_sets import WeatIndices
    from biaslab.origins.attribution.scanner import Scanner

Cooccurrences = Annotated[Path, typer.Option(help="Co-occurrences of the corpus (.npz).")]
Documents = Annotated[Path, typer.Option(help="Table of the corpus's documents (.parquet).")]
Sets = Annotated[Path, typer.Option(help="Documents of every set (.parquet).")]
WordSetFile = Annotated[Path, typer.Option(help="Word sets of the test (.yaml).")]
WordSetFiles = Annotated[
    list[Path], typer.Option(help="Word sets of a test (.yaml); repeat it for several tests.")
]


@dataclass(frozen=True)
class CountedCorpus:
    """The files of a corpus that was counted."""

    cooccurrence: Cooccurrences
    corpus: Annotated[Path, typer.Option(help="Word ids of the corpus (.npz).")]
    vocabulary: CorpusVocabulary


@dataclass(frozen=True)
class Influence(Weighting):
    """How influence functions see GloVe's loss."""

    damping: Annotated[
        float, typer.Option(help="Added to the diagonal of every Hessian; 0 as in the paper.", min=0)
    ] = 0.0


OfAllTests = Annotated[
    list[Path], typer.Argument(help="Differential bias of every document, a file for each test (.parquet).")
]
Estimator = Annotated[str, typer.Option(help="influence, newton or gradient.")]
Sizes = Annotated[str, typer.Option(help="Numbers of documents, separated by commas.")]


Retrainings = Annotated[int, typer.Option(help="Embeddings trained without each set.", min=1)]
EveryDocument = Annotated[
    list[Path], typer.Option(help="Differential bias of every document (.parquet); once for each test.")
]
BaselineBias = Annotated[Path, typer.Option(help="Bias of the baselines (.tsv).")]


@dataclass(frozen=True)
class SomeSets:
    """Which sets of a table to take, by their numbers in it."""

    first: Annotated[int, typer.Option(help="First set.", min=0)] = 0
    count: Annotated[int | None, typer.Option(help="Number of sets; by default all.", min=1)] = None

    def of(self, names: list[str]) -> list[str]:
        """Return their names."""
        return names[self.first :][: self.count]


@dataclass(frozen=True)
class OneCorpus:
    """The files of a corpus."""

    corpus: Annotated[Path, typer.Option(help="Word ids of the corpus (.npz).")]
    documents: Documents
    vocabulary: CorpusVocabulary


@dataclass(frozen=True)
class PlantedFiles:
    """Where a corpus with planted documents goes."""

    out_corpus: Annotated[Path, typer.Option(help="Where the word ids go (.npz)."), To.FILE]
    out_documents: Annotated[
        Path, typer.Option(help="Where the table of documents goes (.parquet)."), To.FILE
    ]
    out_vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes (.tsv)."), To.FILE]


@dataclass(frozen=True)
class Flips:
    """Where goes what is predicted to flip the sign of a bias."""

    numbers: Annotated[Path, typer.Option(help="Predicted numbers of documents, by ranking (.tsv)."), To.FILE]
    paths: Annotated[Path, typer.Option(help="Predicted bias without the first documents (.tsv)."), To.FILE]
    sets: Annotated[Path, typer.Option(help="Documents of the sets to retrain without (.parquet)."), To.FILE]


@dataclass(frozen=True)
class OfSetup:
    """Where the results of a setup are."""

    setup: Annotated[str, typer.Option(help="Name of the setup.")]
    results: Annotated[Path, typer.Option(help="The folder of all results.")] = Path("results")


app = typer.Typer(help="Origins of bias in word embeddings (Brunet et al. 2019).", no_args_is_help=True)


@app.command("measure-baseline")
def measure_baseline(
    batches: Baselines,
    vocabulary: EmbeddingsVocabulary,
    weat: WordSetFiles,
    seed: Seed,
    out: Out,
    permutations: Annotated[
        int,
        typer.Option(
            help="Up to this many partitions p is exact, beyond it is estimated from as many.", min=1
        ),
    ] = 100_000,
) -> None:
    """Measure the bias of every baseline embedding, with p-values and the words the vocabulary lacks."""
    from biaslab.bias.measures.registry import PARAMETERS
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins.baseline import measure

    tests = [read_word_sets(path, PARAMETERS) for path in weat]
    write_tsv(out, measure(batches, read_vocabulary(vocabulary), tests, permutations, seed))


@app.command("measure-sets")
def measure_sets(
    vocabulary: EmbeddingsVocabulary,
    weat: WordSetFiles,
    out: Out,
    batches: Annotated[
        list[Path] | None, typer.Argument(help="Batch files of retrained embeddings (.npz), if any.")
    ] = None,
) -> None:
    """Measure the bias of every embedding retrained without a perturbation set."""
    from biaslab.bias.measures.registry import PARAMETERS
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins.baseline import measure_sets

    tests = [read_word_sets(path, PARAMETERS) for path in weat]
    write_tsv(out, measure_sets(batches or [], read_vocabulary(vocabulary), tests))


@app.command("differential-bias")
@grouped
def differential_bias(
    batches: Baselines,
    corpus: CountedCorpus,
    documents: Documents,
    weat: WordSetFile,
    out: Out,
    influence: Influence,
    threads: Threads = 1,
    transform: Annotated[
        list[Path] | None,
        typer.Option(
            help="Measure the bias in the words as a debiasing maps them (.npz of `biaslab debiasing"
            " transform`); may be repeated. The table then names the file of each row in a column stage."
        ),
    ] = None,
) -> None:
    """Estimate how much every document contributes to a bias, without retraining."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.embeddings.word_maps import read_word_maps
    from biaslab.origins.attribution.scanner import count_test_words, document_table, mapped_document_table

    scanner, (test,) = _scanner(batches, corpus, [weat], influence, threads)
    titles = read_parquet(documents, ["document", "id", "title"])
    maps = {path.stem: read_word_maps(path, len(scanner.words)) for path in transform or ()}
    if maps:
        table = mapped_document_table(scanner, test, maps, titles)
    else:
        counts = count_test_words(scanner.tokens, scanner.offsets, test)
        table = document_table(scanner.documents(test), titles).join(counts)
    write_parquet(out, table)


@app.command("select-sets")
def select_sets(
    differential_bias: OfAllTests,
    estimator: Estimator,
    sizes: Sizes,
    seed: Seed,
    out: Out,
    random_sizes: Sizes = "",
    random_sets: Annotated[int, typer.Option(help="Random sets of each size.", min=0)] = 0,
) -> None:
    """Select documents to remove: those that raise each bias (decrease), those that lower it, random ones."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.origins import perturbation

    column = f"{estimator}_mean"
    means = {path.stem: read_parquet(path, [column])[column].to_numpy() for path in differential_bias}
    targeted, random = _sizes(sizes, "--sizes"), _sizes(random_sizes, "--random-sizes")
    write_parquet(out, perturbation.select_sets(means, targeted, random, random_sets, seed))


@app.command("predict-sets")
@grouped
def predict_sets(
    batches: Baselines,
    corpus: CountedCorpus,
    sets: Sets,
    weat: WordSetFiles,
    out: Out,
    influence: Influence,
    threads: Threads = 1,
) -> None:
    """Predict the bias after the removal of every perturbation set, as a set."""
    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.origins.attribution.scanner import set_table

    scanner, tests = _scanner(batches, corpus, weat, influence, threads)
    write_tsv(out, set_table(scanner, tests, read_parquet(sets)))


@app.command("evaluate")
def evaluate(
    baseline: Annotated[Path, typer.Option(help="Bias of the baselines (.tsv).")],
    predictions: Annotated[Path, typer.Option(help="Predicted bias of every set (.tsv).")],
    observed: Annotated[Path, typer.Option(help="Bias of the retrained embeddings (.tsv).")],
    seed: Seed,
    perturbations: Annotated[
        Path, typer.Option(help="Where the comparison of every set goes (.tsv)."), To.FILE
    ],
    correlation: Annotated[Path, typer.Option(help="Where the fits go (.tsv)."), To.FILE],
) -> None:
    """Compare predicted with observed bias: Welch's tests, correlations, slopes."""
    from biaslab.core.io import read_tsv, write_tsv
    from biaslab.origins.checks.retraining.analysis import compare_sets, correlate

    table = compare_sets(read_tsv(baseline), read_tsv(predictions), read_tsv(observed))
    write_tsv(perturbations, table)
    write_tsv(correlation, correlate(table, seed))


@app.command("explain")
@grouped
def explain(
    of: OfSetup,
    document: Annotated[str, typer.Option(help="Id of the document, as in documents.parquet.")],
    config: Annotated[
        Path | None, typer.Option(help="The configuration of the run; by default config.json in the results.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with the text, coloured."), To.FILE
    ] = None,
    weat: Annotated[str | None, typer.Option(help="Name of one test; by default all of the setup.")] = None,
) -> None:
    """Print what one document contributes to the bias: by estimator, word and co-occurrence."""
    from biaslab.origins.pages.explanation import Corpus, chosen_tests, open_setup
    from biaslab.origins.pages.explanation import explain as explain_document
    from biaslab.origins.pages.explanation_page import show
    from biaslab.origins.pages.highlight import write_page

    chosen = open_setup(of.setup, of.results, config or of.results / "config.json")
    tests, corpus = chosen_tests(chosen, weat), Corpus(chosen)
    found = corpus.find(document)
    parts = [(t, chosen.baseline_mean(t.name), explain_document(corpus, found, t)) for t in tests]
    show(found, of.setup, parts)
    if html:
        write_page(html, of.setup, found, parts)


@app.command("cross-fit")
@grouped
def cross_fit(
    batches: Baselines,
    corpus: CountedCorpus,
    weat: WordSetFiles,
    differential_bias: EveryDocument,
    estimator: Estimator,
    perturbations: Annotated[Path, typer.Option(help="Predictions and outcomes of every set (.tsv).")],
    baseline: BaselineBias,
    observed: Annotated[Path, typer.Option(help="Bias of the retrained embeddings (.tsv).")],
    seed: Seed,
    out: Out,
    influence: Influence,
    threads: Threads = 1,
) -> None:
    """Let some baselines choose the documents of each set, and the others predict what their removal does."""
    import pandas as pd

    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins.checks.cross_fitting import analysis as cross_fitting
    from biaslab.origins.grid import of_test

    scanner, tests = _scanner(batches, corpus, weat, influence, threads)
    sets, before, after = read_tsv(perturbations), read_tsv(baseline), read_tsv(observed)
    parts = []
    for test in tests:
        values = cross_fitting.seed_values(read_parquet(of_test(differential_bias, test.name)), estimator)
        chosen = sets[(sets["weat"] == test.name) & (sets["estimator"] == estimator)]
        samples = (table[table["weat"] == test.name] for table in (before, after))
        predict = cross_fitting.predictors(scanner, test, values, estimator)
        parts.append(cross_fitting.cross_fit_sets(values, predict, chosen, *samples, seed))
    write_tsv(out, pd.concat(parts, ignore_index=True))


@app.command("draw-subsets")
def draw_subsets(
    documents: Documents,
    subsets: Annotated[int, typer.Option(help="Subsets for each share.", min=2)],
    shares: Annotated[str, typer.Option(help="Shares of the documents to leave out, separated by commas.")],
    seed: Seed,
    out: Out,
) -> None:
    """Draw random subsets of the corpus: the documents that each of them lacks."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.origins.checks.lds import subsets as drawing

    n_documents = len(read_parquet(documents, ["document"]))
    numbered = numbers(shares, "--shares", float, "0.5,0.1")
    write_parquet(out, drawing.draw_subsets(n_documents, numbered, subsets, seed))


@app.command("retrain-sets")
@grouped
def retrain_sets(
    corpus: CountedCorpus,
    sets: Sets,
    weat: WordSetFiles,
    trainings: Retrainings,
    model: Glove,
    seed: Seed,
    out: Out,
    which: SomeSets,
    checkpoint_minutes: CheckpointMinutes = 30,
    threads: Threads = 1,
) -> None:
    """Train GloVe without each of several sets, and keep the bias of the embeddings, not them."""
    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.embeddings.glove import GloveParameters
    from biaslab.origins.checks.lds.subsets import retrain
    from biaslab.origins.counted import read_counted, read_tests
    from biaslab.origins.perturbation import members

    words, x, tokens, offsets = read_counted(**vars(corpus))
    documents = members(read_parquet(sets, ["set", "document"]))
    chosen = {name: documents[name] for name in which.of(list(documents))}
    parameters, tests = GloveParameters(**vars(model)), read_tests(weat, words)
    table = retrain(
        x, tokens, offsets, chosen, tests, parameters, trainings, seed, out, 60 * checkpoint_minutes, threads
    )
    write_tsv(out, table)


@app.command("plant-documents")
@grouped
def plant_documents(
    source: OneCorpus,
    weat: WordSetFiles,
    count: Annotated[int, typer.Option(help="Documents of each kind for every test.", min=1)],
    dose: Annotated[float, typer.Option(help="Share of their tokens that are words of the test.")],
    seed: Seed,
    to: PlantedFiles,
) -> None:
    """Plant documents that raise a bias, lower it, or do neither, in a copy of the corpus."""
    import numpy as np
    import pandas as pd

    from biaslab.core.io import read_npz, read_parquet, write_npz, write_parquet, write_tsv
    from biaslab.embeddings.corpus import read_tokens
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins.checks.planted.planting import plant
    from biaslab.origins.counted import read_tests

    words = read_vocabulary(source.vocabulary)
    tokens, offsets = read_tokens(source.corpus, words)
    titles, tests = read_parquet(source.documents, ["id", "title"]), read_tests(weat, words)
    made = plant(tokens, offsets, titles, words, tests, count, dose, seed)
    write_tsv(
        to.out_vocabulary, pd.DataFrame({"word": made.vocabulary.words, "count": made.vocabulary.counts})
    )
    write_parquet(to.out_documents, made.documents)
    n_source = read_npz(source.corpus, ("n_source_tokens",))["n_source_tokens"]  # as it was read
    write_npz(to.out_corpus, tokens=made.tokens, offsets=made.offsets, n_source_tokens=np.int64(n_source))


@app.command("recall")
def recall(
    documents: Annotated[
        list[Path],
        typer.Argument(
            help="Tables of the documents of corpora with planted ones (.parquet), each beside the folders"
            " differential_bias, ppmi and relative_influence that hold a table of each test."
        ),
    ],
    seed: Seed,
    pairs: Annotated[Path, typer.Option(help="Where the comparison with the controls goes (.tsv)."), To.FILE],
    out: Out,
) -> None:
    """Measure how many of the planted documents every attribution ranks first."""
    import pandas as pd

    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.origins.checks.planted import recall as measure
    from biaslab.origins.grid import PLANTED_TABLES

    recalls, compared = [], []
    for path in documents:
        listed = read_parquet(path, ["document", "kind", "weat", "source", "dose"])
        for weat in measure.planted_tests(listed, str(path)):
            paths = [path.parent / kind / f"{weat}.parquet" for kind in PLANTED_TABLES]
            tables = [read_parquet(table) for table in paths]
            measure.check(listed, dict(zip(map(str, paths), tables, strict=True)))
            values = measure.attributions(*tables)
            recalls.append(measure.recall_table(listed, weat, values, seed))
            compared.append(measure.pair_table(listed, weat, values))
    write_tsv(out, pd.concat(recalls, ignore_index=True))
    write_tsv(pairs, pd.concat(compared, ignore_index=True))


@app.command("relative-influence")
@grouped
def relative_influence(
    batches: Baselines,
    corpus: CountedCorpus,
    differential_bias: Annotated[
        Path, typer.Option(help="Differential bias of every document by the same baselines (.parquet).")
    ],
    weat: WordSetFile,
    out: Out,
    influence: Influence,
    threads: Threads = 1,
) -> None:
    """Divide the influence of every document by how far its removal moves the words of the test."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.origins.checks.relative_influence.analysis import relative_table

    scanner, (test,) = _scanner(batches, corpus, [weat], influence, threads)
    write_parquet(out, relative_table(read_parquet(differential_bias), scanner.step_lengths(test)))


@app.command("randomise-embeddings")
def randomise_embeddings(
    batches: Baselines,
    kind: Annotated[str, typer.Option(help="untrained or shuffled.")],
    count: Annotated[int, typer.Option(help="Number of embeddings.", min=1)],
    seed: Seed,
    out: Out,
) -> None:
    """Make embeddings that know nothing: untrained ones, or trained ones whose words are shuffled."""
    from biaslab.core.io import read_npz
    from biaslab.embeddings.glove import GloveEmbedding, write_trainings
    from biaslab.origins.checks.randomised.analysis import randomise

    names = ("W", "U", "b", "c", "loss")
    arrays = [read_npz(path, names) for path in batches]
    trained = [
        GloveEmbedding(**{name: of[name][k] for name in names}) for of in arrays for k in range(len(of["W"]))
    ]
    made = list(randomise(trained, kind, count, seed))
    write_trainings(out, list(range(count)), made, every_parameter=True)


@app.command("score-documents")
def score_documents(
    documents: Annotated[Path, typer.Option(help="Single documents, estimated and observed (.tsv).")],
    ppmi: Annotated[Path, typer.Option(help="Differential bias of every document by PPMI (.parquet).")],
    seed: Seed,
    out: Out,
) -> None:
    """Tell how well attributions know whether the removal of a document lowers or raises the bias (AUC)."""
    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins.checks.single_documents import auc as document_auc
    from biaslab.origins.grid import ESTIMATORS

    table = read_tsv(documents, ("weat", "kind", "document", "observed", *ESTIMATORS))
    write_tsv(out, document_auc.score_documents(table, read_parquet(ppmi, ["document", "ppmi"]), seed))


@app.command("predict-flips")
@grouped
def predict_flips(
    batches: Baselines,
    corpus: CountedCorpus,
    weat: WordSetFiles,
    differential_bias: EveryDocument,
    ppmi: Annotated[list[Path], typer.Option(help="The same by PPMI (.parquet); once for each test.")],
    baseline: BaselineBias,
    seed: Seed,
    out: Flips,
    influence: Influence,
    multiples: Annotated[
        str, typer.Option(help="Multiples of the predicted number to choose sets of, separated by commas.")
    ] = "0.5,1,2,4",
    threads: Threads = 1,
) -> None:
    """Predict the fewest documents whose removal flips the sign of a bias, and choose sets to retrain."""
    import pandas as pd

    from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
    from biaslab.origins.checks.brittleness import analysis as brittleness
    from biaslab.origins.grid import of_test

    scanner, tests = _scanner(batches, corpus, weat, influence, threads)
    before = read_tsv(baseline, ("weat", "effect_size")).groupby("weat")["effect_size"].mean()
    times, parts = numbers(multiples, "--multiples", float, "0.5,1,2,4"), []
    for test in tests:
        documents = (read_parquet(of_test(files, test.name)) for files in (differential_bias, ppmi))
        bias = float(before.get(test.name, float("nan")))
        made = brittleness.rankings(scanner, test, *documents, bias)
        parts.append(brittleness.predict_flips(made, bias, times, test.name, seed))
    tables = [pd.concat(found, ignore_index=True) for found in zip(*parts, strict=True)]
    write_tsv(out.numbers, tables[0])
    write_tsv(out.paths, tables[1])
    write_parquet(out.sets, tables[2])


def _scanner(
    batches: list[Path], files: CountedCorpus, weat: list[Path], influence: Influence, threads: int
) -> "tuple[Scanner, list[WeatIndices]]":
    """Read what estimating the differential bias needs; return the scanner and the tests."""
    from biaslab.origins.attribution.scanner import InfluenceParameters, read_scanner

    parameters = InfluenceParameters(**vars(influence))
    return read_scanner(batches, **vars(files), word_sets=weat, influence=parameters, threads=threads)


def _sizes(text: str, option: str) -> list[int]:
    return numbers(text, option, int, "10,30,100")
