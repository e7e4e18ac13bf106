#!/usr/bin/env bash
# Puts the versions of a lock file, and this package, into the environment that Snakemake has just made. The package is
# a link to its source, for the environment is not made anew when the source changes.
set -euo pipefail
: "${BIASLAB_REPOSITORY:?is set by the Snakefile; let Snakemake run this}"
if [ "$1" = requirements-neural.lock ]; then
    bash "$BIASLAB_REPOSITORY/envs/neural.sh" python
else
    python -m pip install --quiet --require-hashes --requirement "$BIASLAB_REPOSITORY/$1"
fi
if [ -e "$BIASLAB_REPOSITORY/pyproject.toml" ]; then
    python -m pip install --quiet --no-deps --no-build-isolation --editable "$BIASLAB_REPOSITORY"
else # an installed package carries the workflow: link that package, its metadata and its command
    package=$(dirname "$BIASLAB_REPOSITORY")
    site=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    command=$(python -c 'import sysconfig; print(sysconfig.get_path("scripts"))')/biaslab
    ln -sfn "$package" "$(dirname "$package")"/biaslab-*.dist-info "$site"
    printf '#!/bin/sh\nexec "$(dirname "$0")/python" -m biaslab "$@"\n' > "$command"
    chmod +x "$command"
fi
