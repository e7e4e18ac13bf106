"""Every kernel runs as Python too, with the same results: what only the compiler lets pass shows here."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biaslab.core import jit

PACKAGE = Path(jit.__file__).parents[1]
TESTS = Path(__file__).parent
CASES = [
    "bias/test_weat.py::test_the_exact_p_value_is_the_share_of_partitions",
    "bias/test_weat.py::test_random_partitions_estimate_the_exact_p_value",
    "classifiers/test_networks.py::test_logits_equal_unit_by_unit_sums[sizes0]",
    "classifiers/test_networks.py::test_input_gradients_equal_finite_differences[sizes0]",
    "classifiers/test_training.py::test_steps_of_adam_equal_those_by_hand",
    "classifiers/test_training.py::test_batches_equal_steps_one_by_one",
    "core/test_jit.py",
    "embeddings/test_cooccurrence.py::test_counts_are_exact",
    "embeddings/test_cooccurrence.py::test_subtracting_documents_equals_recounting_the_pruned_corpus",
    "embeddings/test_glove.py::test_training_equals_the_oracle",
    "embeddings/test_reverse.py::test_derivatives_equal_differences_of_literal_trainings[20.0-1.0]",
    "fairness_testing/test_aequitas.py::test_walks_equal_the_literal_ones[published-columns1]",
    "fairness_testing/test_symbolic.py::test_branch_equals_the_definition_of_the_tree",
    "fairness_testing/test_text_discrimination.py::test_check_equals_the_algorithm[1]",
    "fairness_testing/test_text_search.py::test_global_search_equals_the_algorithm[3-rp]",
    "fairness_testing/test_text_search.py::test_global_search_equals_the_algorithm[3-asc]",
    "fairness_testing/test_text_search.py::test_global_search_equals_the_algorithm[3-adf_asc]",
    "fairness_testing/test_text_search.py::test_global_search_equals_the_algorithm[3-adf_hf]",
    "fairness_testing/test_text_search.py::test_local_search_equals_the_algorithm[3-True]",
    "fairness_testing/test_text_search.py::test_texts_have_the_number_of_the_first_equal_one[False]",
    "origins/attribution/test_influence.py::test_steps_equal_the_dense_formulas[same]",
    "origins/attribution/test_influence.py::test_sets_are_removed_as_sets",
    "origins/attribution/test_ppmi_scan.py::test_a_word_may_be_target_and_attribute",
    "ranking/test_algorithms.py::test_value_that_runs_out_leaves_its_places_to_the_best_of_the_others",
    "ranking/test_simulation.py::test_batch_is_every_list_alone[4-6-10]",
    "ranking/test_measuring.py::test_every_list_is_measured_in_its_own_order",
    "ranking/test_exposure.py::test_unknown_candidates_keep_their_places",
    "ranking/test_exposure.py::test_measure_is_its_oracle[fa_ir_pass-False]",
    "ranking/test_reranking.py::test_every_list_is_ranked_as_the_oracle_does",
    "text/test_recurrent.py::test_gradients_equal_finite_differences[gru-shape1]",
    "text/test_recurrent.py::test_logits_equal_the_cells_number_by_number[lstm-shape1]",
    "text/test_recurrent_training.py::test_an_epoch_equals_steps_by_hand[lstm]",
    "text/test_similarity.py::test_neighbours_are_those_of_the_definition[4]",
    "text/test_similarity.py::test_measures_equal_their_definitions",
]
RUN_AND_NOTE_KERNELS = """
import functools, json, sys
import pytest
from biaslab.core import kernel_cache
entered = set()
def attach(function):
    @functools.wraps(function)
    def kernel(*arguments, **named):
        entered.add((function.__code__.co_filename, function.__name__))
        return function(*arguments, **named)
    return kernel
kernel_cache.attach = attach
status = pytest.main(sys.argv[2:])
json.dump(sorted(entered), open(sys.argv[1], "w"))
sys.exit(status)
"""


def kernels():
    """Return file and name of every function in a module of kernels."""
    for path in PACKAGE.rglob("_*kernels.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield str(path), node.name


@pytest.mark.slow
def test_every_kernel_equals_its_oracle_in_python(tmp_path):
    noted = tmp_path / "kernels.json"
    options = ["-q", "-x", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [sys.executable, "-c", RUN_AND_NOTE_KERNELS, noted, *options, *(TESTS / case for case in CASES)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    entered = {tuple(kernel) for kernel in json.loads(noted.read_text())}
    assert set(kernels()) - entered == set(), "no test in CASES runs these"
