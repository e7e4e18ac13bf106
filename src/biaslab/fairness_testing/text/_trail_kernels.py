"""Kernels that replay walks and identify equal texts."""

import numpy as np

from biaslab.core.jit import kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def replay(ids, offsets, positions, words):
    """Return ids and offsets of the text after each move, (n, hops) int32; position -1 is no move."""
    ends = np.zeros(np.sum(positions >= 0) + 1, np.int64)
    made = 0
    for i in range(len(positions)):
        for hop in range(positions.shape[1]):
            if positions[i, hop] >= 0:
                ends[made + 1] = ends[made] + offsets[i + 1] - offsets[i]
                made += 1
    out = np.empty(ends[-1], np.int32)
    made = 0
    for i in range(len(positions)):
        text = ids[offsets[i] : offsets[i + 1]].copy()
        for hop in range(positions.shape[1]):
            if positions[i, hop] >= 0:
                text[positions[i, hop]] = words[i, hop]
                for k in range(text.size):
                    out[ends[made] + k] = text[k]
                made += 1
    return out, ends


@kernel
def hash_texts(ids, offsets):
    """Return a hash of each text, (n,) uint64: equal for equal texts, and very rarely for different texts."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        mixed = np.uint64(offsets[i + 1] - offsets[i])
        for j in range(offsets[i], offsets[i + 1]):
            mixed = (mixed ^ np.uint64(ids[j])) * _MULTIPLIER
            mixed ^= mixed >> _SHIFT
        hashes[i] = mixed
    return hashes


@kernel
def number_sorted(ids, offsets, order, hashes):
    """Give equal texts the number of the first equal text, (n,) int64.

    `order`, (n,) int64, has the texts sorted by hash, with equal hashes in text order; texts with equal
    hashes are compared word by word.
    """
    numbers = np.empty(len(order), np.int64)
    begin = 0
    for place in range(len(order)):
        i = order[place]
        if place > 0 and hashes[order[place - 1]] != hashes[i]:
            begin = place
        numbers[i] = i
        for earlier in range(begin, place):
            k = order[earlier]
            if numbers[k] == k and np.array_equal(
                ids[offsets[i] : offsets[i + 1]], ids[offsets[k] : offsets[k + 1]]
            ):
                numbers[i] = k
                break
    return numbers
