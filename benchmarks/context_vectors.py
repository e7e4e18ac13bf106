"""What the sum of word and context vectors changes in the baselines of a finished run: TOP-1 and bias.

Usage: python benchmarks/context_vectors.py FOLDER > OUT.tsv, e.g. results/origins/simplewiki

FOLDER must still have its embeddings. Cells are means over baselines with 95% intervals (Student's t); the
difference is paired.
"""

import sys
from pathlib import Path

from biaslab.bias.measures import measure_bias
from biaslab.bias.word_sets import in_vocabulary, read_word_sets
from biaslab.core.io import read_npz
from biaslab.core.stats import mean_interval
from biaslab.embeddings.analogies import default_questions, evaluate
from biaslab.embeddings.vocabulary import read_vocabulary

import numpy as np

WORD_SETS = Path(__file__).parents[1] / "workflow/resources/word_sets"
TESTS = ("weat1", "weat2")


def main(folder: Path) -> None:
    vocabulary = read_vocabulary(folder / "vocabulary.tsv")
    weats = [in_vocabulary(read_word_sets(WORD_SETS / f"{test}.yaml"), vocabulary.ids) for test in TESTS]
    rows = []
    for path in sorted(folder.glob("embeddings/baseline/batch-*.npz")):
        arrays = read_npz(path)
        for words, contexts in zip(arrays["W"], arrays["U"], strict=True):
            row = []
            for vectors in (words, words + contexts):
                answered = evaluate(list(vocabulary.words), vectors, default_questions())
                row.append([100 * answered.accuracy, *(measure_bias(vectors, weat) for weat in weats)])
            rows.append(row)
    before, after = np.swapaxes(rows, 0, 1)
    print("vectors", "TOP-1 (%)", *TESTS, sep="\t")
    for name, values in (("words", before), ("sum", after), ("difference", after - before)):
        cells = ((*mean_interval(column), column.mean()) for column in values.T)
        print(name, *(f"{mean:.2f} [{low:.2f}, {high:.2f}]" for low, high, mean in cells), sep="\t")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
