"""The measures of remaining bias. A new one costs its module, a row here, and an oracle among the tests."""

from biaslab.debiasing.remaining import classifier, clusters, neighbours

MEASURES = {
    "clusters": clusters.measure,
    "classifier": classifier.measure,
    "neighbours": neighbours.measure,
}
"""Each function takes a `Case` and the vectors that debiasing made, and returns what it `Found`."""
