"""The jobs of the workflow that call several steps in a row, so that each job is worth its start."""

from collections.abc import Sequence
from pathlib import Path

from biaslab.embeddings.analogies import join_analogies, write_analogies
from biaslab.embeddings.cooccurrence import count_corpus
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.retraining import train_glove
from biaslab.embeddings.settings import Checkpoints
from biaslab.origins.attribution.ppmi import write_scan
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.attribution.tables import write_differential_bias, write_predictions
from biaslab.origins.baseline import join_sets, write_baseline, write_sets
from biaslab.origins.checks.bias_gradient.analysis import write_ends, write_gradient
from biaslab.origins.checks.cross_fitting.analysis import write_outcomes
from biaslab.origins.checks.planted.planting import write_planted
from biaslab.origins.checks.ppmi_sets.analysis import write_ppmi_sets
from biaslab.origins.checks.retraining.analysis import write_evaluation
from biaslab.origins.pages.highlight import write_gradients
from biaslab.origins.representations.axis.analysis import write_axes, write_projections
from biaslab.origins.representations.ppmi_comparison.analysis import write_comparison
from biaslab.origins.representations.transfer.analysis import write_ppmi_sets as write_sets_in_ppmi
from biaslab.origins.representations.transfer.analysis import write_transfer
from biaslab.origins.sets.selection import write_sets as write_perturbation_sets


def train_and_measure(
    cooccurrence: Path,
    vocabulary: Path,
    word_sets: list[Path],
    set: str,
    model: GloveParameters,
    seed: int,
    first: int,
    count: int,
    out: Path,
    measured: Path,
    answered: Path,
    projected: Path,
    corpus: Path | None = None,
    sets: Path | None = None,
    paired: bool = False,
    checkpoint_minutes: float = Checkpoints.checkpoint_minutes,
    threads: int = 1,
) -> None:
    """Train a batch of embeddings; measure their bias, their analogies, and the words on the bias axis."""
    left_out = corpus, sets, paired
    train_glove(
        cooccurrence, set, model, seed, out, first, count, *left_out, checkpoint_minutes, threads=threads
    )
    write_sets(vocabulary, word_sets, measured, [out])
    write_analogies([out], vocabulary, answered)
    write_projections([out], vocabulary, word_sets, projected)


def evaluate_retrainings(
    measured: list[Path],
    answered: list[Path],
    projected: list[Path],
    baseline: Path,
    predictions: Path,
    cross_fitted: Path,
    ppmi: Path,
    sets: Path,
    seed: int,
    observed: Path,
    observed_by_ppmi: Path,
    analogies: Path,
    projections: Path,
    frequency: Path,
    perturbations: Path,
    correlation: Path,
    cross_fitting: Path,
    changes: Path,
    responses: Path,
    measured_by_ppmi: Sequence[Path] = (),
    word2vec: Path | None = None,
) -> None:
    """Join what was measured in all embeddings, and compare it with every prediction."""
    join_sets(observed, measured)
    join_sets(observed_by_ppmi, measured_by_ppmi)
    join_analogies(analogies, answered)
    write_axes(projected, projections, frequency, seed)
    write_evaluation(baseline, predictions, observed, seed, perturbations, correlation)
    write_outcomes(cross_fitted, baseline, observed, cross_fitting)
    write_transfer(baseline, observed, ppmi, sets, changes, responses, seed, word2vec)


def attribute_documents(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    documents: Path,
    vocabulary: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    by_seed: Path,
    scan: Path,
    threads: int = 1,
) -> None:
    """Estimate what every document contributes to a bias, and measure it in the PPMI representation."""
    counted, listed = (cooccurrence, corpus), (documents, vocabulary, word_sets)
    write_differential_bias(embeddings, *counted, *listed, influence, out, by_seed, threads)
    write_scan(*counted, *listed, scan, threads)


def estimate_gradient(
    setup: str,
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    documents: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    pairs: Path,
    strongest: Path,
    of_documents: Path,
    threads: int = 1,
) -> None:
    """Estimate how much every co-occurrence contributes to a bias.

    The strongest are listed, and those in the documents that raise and lower the bias most: of these few the
    pages of the documents are made.
    """
    files = cooccurrence, corpus, vocabulary, word_sets
    write_gradient(embeddings, *files, influence, pairs, threads)
    write_ends(pairs, strongest)
    write_gradients(setup, documents.parent, word_sets, of_documents)


def select_all_sets(
    differential_bias: list[Path],
    scan: Path,
    estimator: str,
    sizes: list[int],
    sizes_by_ppmi: list[int],
    random_sizes: list[int],
    random_sets: int,
    seed: int,
    out: Path,
    out_by_ppmi: Path,
) -> None:
    """Select the documents of every perturbation set, and of those that the PPMI baseline finds."""
    write_perturbation_sets(differential_bias, estimator, sizes, random_sizes, random_sets, seed, out)
    write_ppmi_sets(scan, out_by_ppmi, sizes_by_ppmi)


def predict_removals(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    sets: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    ppmi: Path,
    threads: int = 1,
) -> None:
    """Predict the bias after the removal of every set, and measure it in the PPMI representation."""
    files = cooccurrence, corpus, vocabulary, sets, word_sets
    write_predictions(embeddings, *files, influence, out, threads)
    write_sets_in_ppmi(*files, ppmi, threads)


def measure_baselines(
    embeddings: list[Path],
    cooccurrence: Path,
    vocabulary: Path,
    word_sets: list[Path],
    permutations: int,
    random_tests: int,
    seed: int,
    out: Path,
    by_ppmi: Path,
    random_sets: Path,
    correlation: Path,
) -> None:
    """Measure the bias of the baselines, and compare it with that in the PPMI representation."""
    write_baseline(embeddings, vocabulary, word_sets, permutations, seed, out)
    tables = by_ppmi, random_sets, correlation
    write_comparison(embeddings, cooccurrence, vocabulary, word_sets, *tables, seed, random_tests)


def plant_and_count(
    corpus: Path,
    documents: Path,
    vocabulary: Path,
    word_sets: list[Path],
    count: int,
    dose: float,
    window: int,
    seed: int,
    out_corpus: Path,
    out_documents: Path,
    out_vocabulary: Path,
    out_cooccurrence: Path,
    threads: int = 1,
) -> None:
    """Plant documents in a copy of the corpus, and count its co-occurrences."""
    tables = out_corpus, out_documents, out_vocabulary
    write_planted(corpus, documents, vocabulary, word_sets, count, dose, seed, *tables)
    count_corpus(out_corpus, out_vocabulary, window, out_cooccurrence, threads)
