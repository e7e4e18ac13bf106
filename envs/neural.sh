#!/usr/bin/env bash
# neural.sh PYTHON installs requirements-neural.lock: torch from where pip is configured to look, or else from torch's
# own index of CPU builds. Where neither has it, two lines say so and how to install it, and the exit code is 1.
set -uo pipefail
python=$1
lock=$(cd "$(dirname "$0")/.." && pwd)/requirements-neural.lock
cpu_index=https://download.pytorch.org/whl/cpu
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
install() { "$python" -m pip install --quiet --disable-pip-version-check --no-compile "$@" 2>> "$own/errors"; }
reason() { grep '^ERROR: ' "$own/errors" | tail -1 | cut -d' ' -f2-; }

# torch alone: this ends within seconds where an index does not have it, and every index has the other packages.
awk '/^[^ #]/ { of_torch = /^torch==/ } of_torch' "$lock" > "$own/torch.txt"
hashed=(--require-hashes --requirement "$own/torch.txt")
if ! install --no-deps "${hashed[@]}"; then
    # The lock file has the hash of the CPU build for Python 3.11 alone; others are taken by their version.
    "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
        || hashed=("$(sed -n 's/^\(torch==[^ ]*+cpu\) .*/\1/p' "$own/torch.txt")")
    echo "torch's CPU build is not where pip looks; trying $cpu_index ..."
    if ! install --no-deps --retries 2 --index-url "$cpu_index" "${hashed[@]}"; then
        echo "torch is not installed ($(reason)). Steps that need it are left out. To install torch's build for GPUs (3 GB):" >&2
        echo "    $python -m pip install 'biaslab[neural]'" >&2
        exit 1
    fi
fi
install --require-hashes --requirement "$lock" && exit
echo "requirements-neural.lock is not installed ($(reason)). The same command tries again; steps that need it are left out." >&2
exit 1
