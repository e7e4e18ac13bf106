#!/usr/bin/env bash
# Snakemake runs this in the environment it has just made. The Snakefile says where the repository is. The package is
# installed as a link to its source, for the environment is not made anew when the source changes.
set -euo pipefail
: "${BIASLAB_REPOSITORY:?is set by the Snakefile; let Snakemake run this}"
python -m pip install --quiet --require-hashes --requirement "$BIASLAB_REPOSITORY/requirements-neural.lock"
python -m pip install --quiet --no-deps --no-build-isolation --editable "$BIASLAB_REPOSITORY"
