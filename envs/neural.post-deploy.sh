#!/usr/bin/env bash
# Snakemake runs a copy of this in the environment it has just made; the Snakefile says where the repository is.
set -euo pipefail
bash "${BIASLAB_REPOSITORY:?is set by the Snakefile; let Snakemake run this}/envs/install.sh" requirements-neural.lock
