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
    from collections.abc import Iterable, Mapping

    import numpy as np

    from biaslab.bias.word_sets import WeatIndices
    from biaslab.embeddings.cooccurrence import Cooccurrence
    from biaslab.embeddings.vocabulary import Vocabulary
    from biaslab.origins.estimation import Scanner

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
class Attributions:
    """What is scored: the estimates of every document and of every subset as a whole."""

    differential_bias: EveryDocument
    ppmi: Annotated[list[Path], typer.Option(help="The same by PPMI (.parquet); once for each test.")]
    predictions: Annotated[Path, typer.Option(help="Predicted bias without every subset (.tsv).")]
    ppmi_sets: Annotated[Path, typer.Option(help="Bias by PPMI without every subset (.tsv).")]


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
class ByRandomised:
    """The estimates by embeddings that know nothing."""

    untrained: Annotated[
        list[Path], typer.Option(help="Differential bias by untrained ones (.parquet); once for each test.")
    ]
    shuffled: Annotated[
        list[Path], typer.Option(help="The same by those with shuffled words; once for each test.")
    ]
    untrained_predictions: Annotated[Path, typer.Option(help="Bias without every set by the former (.tsv).")]
    shuffled_predictions: Annotated[Path, typer.Option(help="The same by the latter (.tsv).")]

    @property
    def documents(self) -> dict[str, list[Path]]:
        """The tables of documents, by kind of embeddings."""
        return {"untrained": self.untrained, "shuffled": self.shuffled}

    @property
    def predictions(self) -> dict[str, Path]:
        """The tables of sets, by kind of embeddings."""
        return {"untrained": self.untrained_predictions, "shuffled": self.shuffled_predictions}


@dataclass(frozen=True)
class Flips:
    """Where goes what is predicted to flip the sign of a bias."""

    numbers: Annotated[Path, typer.Option(help="Predicted numbers of documents, by ranking (.tsv)."), To.FILE]
    paths: Annotated[Path, typer.Option(help="Predicted bias without the first documents (.tsv)."), To.FILE]
    sets: Annotated[Path, typer.Option(help="Documents of the sets to retrain without (.parquet)."), To.FILE]


@dataclass(frozen=True)
class RandomTests:
    """Where the comparison of two representations over random tests goes."""

    word_sets: Annotated[Path, typer.Option(help="Where the random tests go (.tsv)."), To.FILE]
    correlation: Annotated[Path, typer.Option(help="Where their fit goes (.tsv)."), To.FILE]


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
    from biaslab.origins.estimation import count_test_words, document_table, mapped_document_table

    scanner, (test,) = _scanner(batches, corpus, [weat], influence, threads)
    titles = read_parquet(documents, ["document", "id", "title"])
    maps = {path.stem: read_word_maps(path, len(scanner.words)) for path in transform or ()}
    if maps:
        table = mapped_document_table(scanner, test, maps, titles)
    else:
        counts = count_test_words(scanner.tokens, scanner.offsets, test)
        table = document_table(scanner.documents(test), titles).join(counts)
    write_parquet(out, table)


@app.command("bias-gradient")
@grouped
def bias_gradient(
    batches: Baselines,
    corpus: CountedCorpus,
    weat: WordSetFile,
    out: Out,
    influence: Influence,
    threads: Threads = 1,
) -> None:
    """Estimate how much every co-occurrence of a test's words raises or lowers the bias."""
    from biaslab.core.io import write_parquet
    from biaslab.origins.gradient import pair_table

    scanner, (test,) = _scanner(batches, corpus, [weat], influence, threads)
    write_parquet(out, pair_table(scanner, test))


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


@app.command("seed-stability")
def seed_stability(differential_bias: OfAllTests, seed: Seed, out: Out) -> None:
    """Measure how far the ranking of documents depends on the baselines' seeds, by their number."""
    import pandas as pd

    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.origins.seed_stability import stability

    parts = [stability(read_parquet(path), path.stem, seed) for path in differential_bias]
    write_tsv(out, pd.concat(parts, ignore_index=True))


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
    from biaslab.origins.estimation import set_table

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
    from biaslab.origins.evaluation import compare_sets, correlate

    table = compare_sets(read_tsv(baseline), read_tsv(predictions), read_tsv(observed))
    write_tsv(perturbations, table)
    write_tsv(correlation, correlate(table, seed))


@app.command("select-documents")
def select_documents(
    differential_bias: Annotated[
        Path, typer.Argument(help="Differential bias of every document (.parquet).")
    ],
    estimator: Estimator,
    tails: Annotated[int, typer.Option(help="Documents at each end of the ranking.", min=0)],
    random: Annotated[int, typer.Option(help="Random documents of the rest.", min=0)],
    seed: Seed,
    out: Out,
) -> None:
    """Select single documents: those with the most influence, and random ones."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.origins import single_documents

    column = f"{estimator}_mean"
    values = read_parquet(differential_bias, [column])[column].to_numpy()
    weat = differential_bias.stem
    write_parquet(out, single_documents.select_documents(values, weat, tails, random, seed))


@app.command("compare-documents")
def compare_documents(
    sets: Annotated[Path, typer.Option(help="The single documents (.parquet).")],
    baseline: Annotated[Path, typer.Option(help="Bias of the baseline embeddings (.tsv).")],
    observed: Annotated[Path, typer.Option(help="Bias of their partners without a document (.tsv).")],
    differential_bias: Annotated[Path, typer.Option(help="Differential bias of every document (.parquet).")],
    documents: Annotated[Path, typer.Option(help="Table of the documents to write (.tsv)."), To.FILE],
    correlation: Annotated[Path, typer.Option(help="Table of correlations to write (.tsv)."), To.FILE],
    seed: Seed,
) -> None:
    """Compare the estimated differential bias of single documents with paired retraining."""
    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins import single_documents as single

    table = single.compare_documents(
        read_parquet(sets),
        read_tsv(baseline, ("weat", "seed", "effect_size")),
        read_tsv(observed, ("set", "weat", "seed", "effect_size")),
        read_parquet(differential_bias),
    )
    write_tsv(documents, table)
    write_tsv(correlation, single.correlate_documents(table, seed))


@app.command("ppmi-scan")
@grouped
def ppmi_scan(
    corpus: CountedCorpus, documents: Documents, weat: WordSetFile, out: Out, threads: Threads = 1
) -> None:
    """Measure how much every document contributes to a bias in the PPMI representation, exactly."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.origins import ppmi_scan as scan

    x, tokens, offsets, (test,) = _read_for_ppmi(corpus, [weat])
    values = scan.differential_bias(x, tokens, offsets, test, threads)
    table = scan.document_table(values, read_parquet(documents, ["document", "id", "title"]))
    write_parquet(out, table)


@app.command("select-ppmi-sets")
def select_ppmi_sets(
    scan: Annotated[Path, typer.Argument(help="Differential bias of every document by PPMI (.parquet).")],
    sizes: Sizes,
    out: Out,
) -> None:
    """Select the documents that change a bias most in the PPMI representation."""
    from biaslab.core.io import read_parquet, write_parquet
    from biaslab.origins import ppmi_sets

    ppmi = read_parquet(scan, ["ppmi"])["ppmi"].to_numpy()
    write_parquet(out, ppmi_sets.select_ppmi_sets(ppmi, scan.stem, _sizes(sizes, "--sizes")))


@app.command("compare-ppmi")
@grouped
def compare_ppmi(
    batches: Baselines,
    cooccurrence: Cooccurrences,
    vocabulary: CorpusVocabulary,
    weat: WordSetFiles,
    seed: Seed,
    baseline: Annotated[Path, typer.Option(help="Where the tests' bias by PPMI goes (.tsv)."), To.FILE],
    out: RandomTests,
    count: Annotated[
        int, typer.Option(help="Random tests to draw, as large as the first test.", min=2)
    ] = 2000,
    contexts: Annotated[int, typer.Option(help="Contexts that a word must have to be drawn.", min=1)] = 50,
) -> None:
    """Compare the bias in the baseline embeddings with that in the PPMI representation, over random tests."""
    from biaslab.bias.word_sets import in_vocabulary, read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins import ppmi_comparison as comparison

    words = read_vocabulary(vocabulary)
    x = _read_counts(cooccurrence, vocabulary, words)
    tests = [read_word_sets(path) for path in weat]
    sizes = [len(names) for names in tests[0].sets.values()]
    drawn = comparison.random_word_sets(x, sizes, count, contexts, seed)
    table = comparison.compare_word_sets(batches, x, drawn, words.words)
    write_tsv(baseline, comparison.measure_ppmi(x, [in_vocabulary(test, words.ids) for test in tests]))
    write_tsv(out.word_sets, table)
    write_tsv(out.correlation, comparison.correlate_word_sets(table, "ppmi", seed))


@app.command("highlight")
@grouped
def highlight(
    of: OfSetup,
    weat: WordSetFile,
    raises: Annotated[Path, typer.Option(help="Page of the document that raises the bias most."), To.FILE],
    lowers: Annotated[Path, typer.Option(help="Page of the document that lowers the bias most."), To.FILE],
) -> None:
    """Write the most influential documents as pages, each word coloured by its contribution."""
    from biaslab.bias.names import LOWERS, RAISES
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.origins.report.explanation import Corpus, explain, extremes
    from biaslab.origins.report.highlight import write_page
    from biaslab.origins.report.results import Setup
    from biaslab.run.area import Unit

    word_sets = read_word_sets(weat)
    corpus = Corpus(Setup(Unit(of.setup), of.results / "origins" / of.setup))
    baseline = corpus.setup.baseline_mean(word_sets.name)
    for effect, number in extremes(corpus.setup, word_sets.name).items():
        document = corpus.document(number)
        part = (word_sets, baseline, explain(corpus, document, word_sets))
        write_page({RAISES: raises, LOWERS: lowers}[effect], of.setup, document, [part])


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
    from biaslab.origins.report.explanation import Corpus, chosen_tests, open_setup
    from biaslab.origins.report.explanation import explain as explain_document
    from biaslab.origins.report.explanation_page import show
    from biaslab.origins.report.highlight import write_page

    chosen = open_setup(of.setup, of.results, config or of.results / "config.json")
    tests, corpus = chosen_tests(chosen, weat), Corpus(chosen)
    found = corpus.find(document)
    parts = [(t, chosen.baseline_mean(t.name), explain_document(corpus, found, t)) for t in tests]
    show(found, of.setup, parts)
    if html:
        write_page(html, of.setup, found, parts)


@app.command("measure-ppmi-sets")
@grouped
def measure_ppmi_sets(
    corpus: CountedCorpus, sets: Sets, weat: WordSetFiles, out: Out, threads: Threads = 1
) -> None:
    """Measure the bias in the PPMI representation without each perturbation set, exactly."""
    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.origins.transfer import measure_ppmi_sets

    x, tokens, offsets, tests = _read_for_ppmi(corpus, weat)
    removed = read_parquet(sets, ["set", "document"])
    write_tsv(out, measure_ppmi_sets(x, tokens, offsets, removed, tests, threads))


@app.command("compare-word2vec")
@grouped
def compare_word2vec(
    batches: Annotated[list[Path], typer.Argument(help="word2vec embeddings of the whole corpus (.npz).")],
    vocabulary: CorpusVocabulary,
    glove: Annotated[Path, typer.Option(help="The random tests, measured in GloVe (.tsv).")],
    seed: Seed,
    out: RandomTests,
) -> None:
    """Compare the bias in word2vec with that in GloVe, over random tests."""
    from biaslab.core.io import read_tsv, write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins import transfer
    from biaslab.origins.ppmi_comparison import correlate_word_sets

    columns = ("word_set", "glove_mean", "glove_sd", "S", "T", "A", "B")
    drawn = read_tsv(glove, columns, text=columns[3:])
    table = transfer.compare_word2vec(batches, read_vocabulary(vocabulary), drawn)
    write_tsv(out.word_sets, table)
    write_tsv(out.correlation, correlate_word_sets(table, "word2vec", seed))


@app.command("compare-transfer")
def compare_transfer(
    baseline: Annotated[Path, typer.Option(help="Bias of the GloVe baselines (.tsv).")],
    observed: Annotated[Path, typer.Option(help="Bias of GloVe without every set (.tsv).")],
    sets: Sets,
    seed: Seed,
    ppmi: Annotated[Path, typer.Option(help="Bias by PPMI, of the baseline and every set (.tsv).")],
    word2vec: Annotated[Path, typer.Option(help="Bias of word2vec, of the baseline and every set (.tsv).")],
    changes: Annotated[Path, typer.Option(help="Where the bias without every set goes (.tsv)."), To.FILE],
    responses: Annotated[
        Path, typer.Option(help="Where the comparison of representations goes (.tsv)."), To.FILE
    ],
) -> None:
    """Compare what the removal of each set does to the bias in GloVe, by PPMI and in word2vec."""
    import pandas as pd

    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins import transfer
    from biaslab.origins.sets import BASELINE

    columns = ("set", "weat", "effect_size")
    samples = {"ppmi": read_tsv(ppmi, columns), "word2vec": read_tsv(word2vec, columns)}
    whole = read_tsv(baseline, columns[1:]).assign(set=BASELINE)
    samples["glove"] = pd.concat([whole, read_tsv(observed, columns)], ignore_index=True)
    table = transfer.set_changes(samples, read_parquet(sets))
    write_tsv(changes, table)
    write_tsv(responses, transfer.compare_responses(table, seed))


@app.command("project-words")
def project_words(
    batches: Annotated[
        list[Path],
        typer.Argument(help="Batch files of the baselines and of each test's largest sets (.npz)."),
    ],
    vocabulary: CorpusVocabulary,
    weat: WordSetFiles,
    seed: Seed,
    projections: Annotated[
        Path, typer.Option(help="Where the projection of every word goes (.tsv)."), To.FILE
    ],
    frequency: Annotated[
        Path, typer.Option(help="Where the fits of the words' shifts on their frequency go (.tsv)."), To.FILE
    ],
) -> None:
    """Project the target words of every test onto its bias axis, before and after removals."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins import axis

    tests = [read_word_sets(path) for path in weat]
    table = axis.project_words(batches, read_vocabulary(vocabulary), tests)
    write_tsv(projections, table)
    write_tsv(frequency, axis.fit_frequency(table, seed))


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
    from biaslab.origins import cross_fitting

    scanner, tests = _scanner(batches, corpus, weat, influence, threads)
    sets, before, after = read_tsv(perturbations), read_tsv(baseline), read_tsv(observed)
    estimates = {path.stem: path for path in differential_bias}
    parts = []
    for test in tests:
        values = cross_fitting.seed_values(read_parquet(_of_test(estimates, test.name)), estimator)
        of_test = sets[(sets["weat"] == test.name) & (sets["estimator"] == estimator)]
        samples = (table[table["weat"] == test.name] for table in (before, after))
        predict = cross_fitting.predictors(scanner, test, values, estimator)
        parts.append(cross_fitting.cross_fit_sets(values, predict, of_test, *samples, seed))
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
    from biaslab.origins import subsets as drawing

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
    from biaslab.origins.perturbation import members
    from biaslab.origins.subsets import retrain

    words, x, tokens, offsets = _read(corpus)
    documents = members(read_parquet(sets, ["set", "document"]))
    chosen = {name: documents[name] for name in which.of(list(documents))}
    parameters, tests = GloveParameters(**vars(model)), _read_tests(weat, words)
    table = retrain(
        x, tokens, offsets, chosen, tests, parameters, trainings, seed, out, 60 * checkpoint_minutes, threads
    )
    write_tsv(out, table)


@app.command("lds")
@grouped
def lds(
    retrained: Annotated[list[Path], typer.Argument(help="Bias without the subsets (.tsv), of any jobs.")],
    subsets: Annotated[Path, typer.Option(help="The documents that every subset lacks (.parquet).")],
    attributions: Attributions,
    seed: Seed,
    removals: Annotated[
        Path, typer.Option(help="Where the subsets go, predicted and observed (.tsv)."), To.FILE
    ],
    out: Out,
) -> None:
    """Score attributions by random subsets of the corpus: the linear datamodeling score."""
    import pandas as pd

    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins.lds import score_subsets

    columns = ("set", "weat", "seed", "effect_size", "documents_sha256")
    measured = pd.concat([read_tsv(path, columns) for path in retrained], ignore_index=True)
    tables = [measured, read_tsv(attributions.predictions), read_tsv(attributions.ppmi_sets)]
    by_ppmi = {path.stem: path for path in attributions.ppmi}
    sets, parts = read_parquet(subsets), []
    for path in attributions.differential_bias:
        weat = path.stem
        of_test, of_sets, ppmi_of_sets = (table[table["weat"] == weat] for table in tables)
        documents = (read_parquet(path), read_parquet(_of_test(by_ppmi, weat)))
        parts.append(score_subsets(sets, of_test, *documents, of_sets, ppmi_of_sets, weat, seed))
    for to, found in zip((removals, out), zip(*parts, strict=True), strict=True):
        write_tsv(to, pd.concat(found, ignore_index=True))


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
    from biaslab.origins.planting import plant

    words = read_vocabulary(source.vocabulary)
    tokens, offsets = read_tokens(source.corpus, words)
    titles, tests = read_parquet(source.documents, ["id", "title"]), _read_tests(weat, words)
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
    from biaslab.origins import recall as measure
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
    from biaslab.origins.relative_influence import relative_table

    scanner, (test,) = _scanner(batches, corpus, [weat], influence, threads)
    write_parquet(out, relative_table(read_parquet(differential_bias), scanner.step_lengths(test)))


@app.command("compare-relative")
def compare_relative(
    differential_bias: EveryDocument,
    relative: Annotated[list[Path], typer.Option(help="Relative influence (.parquet); once for each test.")],
    documents: Documents,
    out: Out,
) -> None:
    """Compare the documents that relative influence puts first with those that influence does."""
    import pandas as pd

    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.origins.relative_influence import compare_orders

    tokens, by_test = read_parquet(documents, ["n_tokens"]), {path.stem: path for path in relative}
    parts = [
        compare_orders(path.stem, read_parquet(path), read_parquet(_of_test(by_test, path.stem)), tokens)
        for path in differential_bias
    ]
    write_tsv(out, pd.concat(parts, ignore_index=True))


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
    from biaslab.origins.randomised import randomise

    names = ("W", "U", "b", "c", "loss")
    arrays = [read_npz(path, names) for path in batches]
    trained = [
        GloveEmbedding(**{name: of[name][k] for name in names}) for of in arrays for k in range(len(of["W"]))
    ]
    made = list(randomise(trained, kind, count, seed))
    write_trainings(out, list(range(count)), made, every_parameter=True)


@app.command("compare-randomised")
@grouped
def compare_randomised(
    differential_bias: EveryDocument,
    predictions: Annotated[Path, typer.Option(help="Bias without every set, by the baselines (.tsv).")],
    randomised: ByRandomised,
    baseline: BaselineBias,
    observed: Annotated[Path, typer.Option(help="Bias of the retrained embeddings (.tsv).")],
    seed: Seed,
    out: Out,
) -> None:
    """Compare the estimates by embeddings that know nothing with those by the baselines."""
    import pandas as pd

    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins.randomised import TRAINED, compare_fits, compare_rankings

    rankings = []
    for path in differential_bias:
        tables = {kind: {f.stem: f for f in files} for kind, files in randomised.documents.items()}
        of_test = {kind: read_parquet(_of_test(files, path.stem)) for kind, files in tables.items()}
        rankings.append(compare_rankings(path.stem, read_parquet(path), of_test))
    predicted = {kind: read_tsv(path) for kind, path in randomised.predictions.items()}
    before, after = read_tsv(baseline), read_tsv(observed)
    fits = compare_fits(before, after, {TRAINED: read_tsv(predictions), **predicted}, seed)
    keys = ["weat", "embeddings", "estimator"]
    write_tsv(out, pd.concat(rankings).merge(fits, how="left", on=keys, validate="1:1"))


@app.command("score-documents")
def score_documents(
    documents: Annotated[Path, typer.Option(help="Single documents, estimated and observed (.tsv).")],
    ppmi: Annotated[Path, typer.Option(help="Differential bias of every document by PPMI (.parquet).")],
    seed: Seed,
    out: Out,
) -> None:
    """Tell how well attributions know whether the removal of a document lowers or raises the bias (AUC)."""
    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins import document_auc
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
    from biaslab.origins import brittleness

    scanner, tests = _scanner(batches, corpus, weat, influence, threads)
    before = read_tsv(baseline, ("weat", "effect_size")).groupby("weat")["effect_size"].mean()
    estimates, by_ppmi = ({path.stem: path for path in files} for files in (differential_bias, ppmi))
    times, parts = numbers(multiples, "--multiples", float, "0.5,1,2,4"), []
    for test in tests:
        documents = (read_parquet(_of_test(files, test.name)) for files in (estimates, by_ppmi))
        bias = float(before.get(test.name, float("nan")))
        made = brittleness.rankings(scanner, test, *documents, bias)
        parts.append(brittleness.predict_flips(made, bias, times, test.name, seed))
    tables = [pd.concat(found, ignore_index=True) for found in zip(*parts, strict=True)]
    write_tsv(out.numbers, tables[0])
    write_tsv(out.paths, tables[1])
    write_parquet(out.sets, tables[2])


@app.command("compare-flips")
def compare_flips(
    retrained: Annotated[list[Path], typer.Argument(help="Bias without the sets (.tsv), of any jobs.")],
    sets: Sets,
    numbers: Annotated[Path, typer.Option(help="Predicted numbers of documents, by ranking (.tsv).")],
    paths: Annotated[Path, typer.Option(help="Predicted bias without the first documents (.tsv).")],
    baseline: BaselineBias,
    outcomes: Annotated[Path, typer.Option(help="Where the outcome of every set goes (.tsv)."), To.FILE],
    brackets: Annotated[
        Path, typer.Option(help="Where the numbers go, predicted and observed (.tsv)."), To.FILE
    ],
) -> None:
    """Tell whether the documents that were predicted to flip the sign of a bias do so."""
    import pandas as pd

    from biaslab.core.io import read_parquet, read_tsv, write_tsv
    from biaslab.origins import flips

    columns = ("set", "weat", "seed", "effect_size", "documents_sha256")
    measured = pd.concat([read_tsv(path, columns) for path in retrained], ignore_index=True)
    predicted, ways = read_tsv(numbers, text=("problem",)), read_tsv(paths)
    before, removed, parts = read_tsv(baseline), read_parquet(sets), []
    for weat, of_test in predicted.groupby("weat", sort=False):
        own, of_way, after, whole = (t[t["weat"] == weat] for t in (removed, ways, measured, before))
        found = flips.outcomes(own, of_way, after, whole["effect_size"].mean())
        parts.append((found, flips.brackets(of_test, found, whole["effect_size"])))
    for to, tables in zip((outcomes, brackets), zip(*parts, strict=True), strict=True):
        write_tsv(to, pd.concat(tables, ignore_index=True))


def _of_test(files: dict[str, Path], weat: str) -> Path:
    """Return the file of a test among those that were given."""
    from biaslab.core.errors import InputError

    if weat not in files:
        raise InputError(f"{weat}: no table of this test among {', '.join(files)}; give one for each test")
    return files[weat]


def _read(files: CountedCorpus) -> "tuple[Vocabulary, Cooccurrence, np.ndarray, np.ndarray]":
    """Read the vocabulary, the counts, the word ids and the offsets of a corpus."""
    from biaslab.embeddings.corpus import read_tokens
    from biaslab.embeddings.vocabulary import read_vocabulary

    words = read_vocabulary(files.vocabulary)
    x = _read_counts(files.cooccurrence, files.vocabulary, words)
    return words, x, *read_tokens(files.corpus, words)


def _read_counts(path: Path, vocabulary: Path, words: "Vocabulary") -> "Cooccurrence":
    """Read the counts of a corpus, which must be of as many words as its vocabulary has."""
    from biaslab.core.errors import InputError
    from biaslab.embeddings import cooccurrence

    x = cooccurrence.read(path)
    if x.n_words != len(words):
        raise InputError(
            f"{path}: counts of {x.n_words} words, but {vocabulary} has {len(words)}; name the files of one"
            " corpus"
        )
    return x


def _read_tests(
    files: list[Path], words: "Vocabulary", measures: "Mapping[str, Iterable[str]] | None" = None
) -> "list[WeatIndices]":
    """Read tests by some measures, or by WEAT alone, and find their words in a vocabulary."""
    from biaslab.bias.word_sets import in_vocabulary, read_word_sets

    return [in_vocabulary(read_word_sets(file, measures), words.ids) for file in files]


def _scanner(
    batches: list[Path], files: CountedCorpus, weat: list[Path], influence: Influence, threads: int
) -> "tuple[Scanner, list[WeatIndices]]":
    """Read what estimating the differential bias needs; return the scanner and the tests."""
    from biaslab.bias.measures.registry import PARAMETERS
    from biaslab.origins.estimation import InfluenceParameters, Scanner

    words, x, tokens, offsets = _read(files)
    tests = _read_tests(weat, words, PARAMETERS)
    parameters = InfluenceParameters(**vars(influence))
    return Scanner(batches, x, tokens, offsets, words.words, parameters, threads), tests


def _read_for_ppmi(
    files: CountedCorpus, weat: list[Path]
) -> "tuple[Cooccurrence, np.ndarray, np.ndarray, list[WeatIndices]]":
    """Read the counts, the word ids and the offsets of a corpus, and the tests."""
    words, x, tokens, offsets = _read(files)
    return x, tokens, offsets, _read_tests(weat, words)


def _sizes(text: str, option: str) -> list[int]:
    return numbers(text, option, int, "10,30,100")
