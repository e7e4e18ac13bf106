import contextlib

import numpy as np
import pytest

from biaslab.classifiers.tensorflow_bundle import load_bundle
from biaslab.core.errors import InputError
from fairness_data import random_network, small_domain

SIZES = (5, 64, 8, 2)


def varint(value):
    parts = bytearray()
    while value >= 128:
        parts.append(value % 128 + 128)
        value //= 128
    parts.append(value)
    return bytes(parts)


def number(field, value):
    return varint(field * 8) + varint(value)


def message(field, content):
    return varint(field * 8 + 2) + varint(len(content)) + content


def checksum(data):
    """CRC-32C as long division of polynomials, bit by bit, and the rotation that LevelDB adds."""
    remainder = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            lowest = (remainder ^ byte >> bit) & 1
            remainder = remainder >> 1 ^ lowest * 0x82F63B78
    remainder ^= 0xFFFFFFFF
    return ((remainder >> 15 | remainder << 17) % 2**32 + 0xA282EAD8) % 2**32


def entry(array, offset, dtype=1, checked=None):
    data = array.astype("<f4").tobytes()
    shape = b"".join(message(2, number(1, n)) for n in array.shape)
    fixed = varint(6 * 8 + 5) + checksum(data if checked is None else checked).to_bytes(4, "little")
    return number(1, dtype) + message(2, shape) + number(4, offset) + number(5, len(data)) + fixed


def block(entries, compression=0, restart=3):
    body, restarts, before = b"", [], b""
    for place, (key, value) in enumerate(entries):
        shared = 0
        if place % restart:
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
        else:
            restarts.append(len(body))
        body += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    body += b"".join(r.to_bytes(4, "little") for r in [*restarts, len(restarts)]) + bytes([compression])
    return body + checksum(body).to_bytes(4, "little")


def table(entries, **options):
    """A LevelDB table of two blocks of entries, one of properties (empty), one that leads to the others."""
    half = len(entries) // 2
    content, index = b"", []
    for part in (entries[:half], entries[half:]):
        written = block(part, **options)
        index.append((part[-1][0], varint(len(content)) + varint(len(written) - 5)))
        content += written
    handles = b""
    for part in ([], index):
        written = block(part)
        handles += varint(len(content)) + varint(len(written) - 5)
        content += written
    return content + handles.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")


HEADER = number(1, 1) + message(3, number(1, 1))


def bundle(network, *, header=HEADER, scope="linear", dtype=1, skip=(), checked=None):
    """The entries and the data of a checkpoint of a network, with what the optimiser keeps."""
    arrays = {}
    for layer, (w, b) in enumerate(zip(network.weights, network.biases, strict=True)):
        name = f"{scope}_{layer}" if layer else scope
        arrays |= {
            f"{name}/{part}{slot}": a for part, a in (("kernel", w), ("bias", b)) for slot in ("", "/Adam")
        }
    arrays["beta1_power"] = np.array(0.5)
    entries, data = [(b"", header)], b""
    for name in sorted(set(arrays) - set(skip)):
        entries.append((name.encode(), entry(arrays[name], len(data), dtype, checked)))
        data += arrays[name].astype("<f4").tobytes()
    return entries, data


def write(folder, index, data):
    (folder / "test.model.index").write_bytes(index)
    (folder / "test.model.data-00000-of-00001").write_bytes(data)
    return folder / "test.model"


def test_network_of_a_bundle_is_the_one_written(tmp_path):
    network = random_network(1, SIZES)
    entries, data = bundle(network)
    again = load_bundle(write(tmp_path, table(entries), data))
    X = small_domain().draw(100, np.random.default_rng(2))
    assert np.array_equal(again.logits(X), network.logits(X))


def test_more_than_ten_layers_come_by_number(tmp_path):
    network = random_network(3, (5, *[4] * 11, 2))
    entries, data = bundle(network)
    again = load_bundle(write(tmp_path, table(entries), data))
    assert all(np.array_equal(a, b) for a, b in zip(again.weights, network.weights, strict=True))


def test_files_cut_short_anywhere_are_refused(tmp_path):
    entries, data = bundle(random_network(4, (5, 3, 2)))
    index = table(entries)
    for length in range(len(index)):
        with pytest.raises(InputError, match=r"test\.model\.index: .* again"):
            load_bundle(write(tmp_path, index[:length], data))
    for length in range(0, len(data) - 4 * 3 * 2, 7):  # the last kernel's slot of the optimiser is not read
        with pytest.raises(InputError, match=r"data-00000-of-00001: "):
            load_bundle(write(tmp_path, index, data[:length]))


def test_no_flipped_byte_goes_unnoticed(tmp_path):
    network = random_network(5, (5, 3, 2))
    entries, data = bundle(network)
    index = table(entries)
    rng = np.random.default_rng(6)
    for place in rng.permutation(len(index))[:300]:
        wrong = bytearray(index)
        wrong[place] ^= rng.integers(1, 256)
        is_padding = place >= len(index) - 48  # of the footer, which no checksum covers
        with contextlib.suppress(InputError):
            again = load_bundle(write(tmp_path, bytes(wrong), data))
            assert is_padding
            assert np.array_equal(again.weights[0], network.weights[0])
    wrong = bytearray(data)
    wrong[data.index(network.weights[0].tobytes())] ^= 1
    with pytest.raises(InputError, match="checksum of a variable"):
        load_bundle(write(tmp_path, index, bytes(wrong)))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"header": number(1, 2)}, "not one little-endian data file"),
        ({"header": number(1, 1) + number(2, 1)}, "not one little-endian data file"),
        ({"dtype": 2}, "not one whole array of 32-bit floats"),
        ({"skip": ["linear_1/bias"]}, "no network is known"),
        ({"skip": ["linear/kernel", "linear/bias"]}, "no network is known"),
    ],
)
def test_other_bundles_are_refused(tmp_path, options, complaint):
    entries, data = bundle(random_network(7, SIZES), **options)
    with pytest.raises(InputError, match=rf"test\.model\.index: .*{complaint}"):
        load_bundle(write(tmp_path, table(entries), data))


def changed(entries, name, value):
    return [(key, value if key == name else old) for key, old in entries]


def test_variables_that_claim_too_much_are_refused(tmp_path):
    network = random_network(8, SIZES)
    entries, data = bundle(network)
    huge = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (2, 2), (0, 0))
    far = entry(network.biases[0], 2**62)
    with pytest.raises(InputError, match="ends before the variables"):
        load_bundle(write(tmp_path, table(changed(entries, b"linear/bias", far)), data))
    shape = message(2, number(1, 2**40)) + message(2, number(1, 2**40))
    claim = number(1, 1) + message(2, shape) + number(5, 2**40)
    with pytest.raises(InputError, match=r"'linear/bias' has \d+ bytes for the shape"):
        load_bundle(write(tmp_path, table(changed(entries, b"linear/bias", claim)), data))
    with pytest.raises(InputError, match="layer 0: weights"):
        load_bundle(
            write(tmp_path, table(changed(entries, b"linear/bias", entry(huge, 0, checked=data[:16]))), data)
        )


def test_compressed_missing_and_foreign_files_are_refused(tmp_path):
    entries, data = bundle(random_network(9, SIZES))
    with pytest.raises(InputError, match="compressed"):
        load_bundle(write(tmp_path, table(entries, compression=1), data))
    with pytest.raises(InputError, match="not the index of a TensorFlow bundle"):
        load_bundle(write(tmp_path, b"PK" * 100, data))
    with pytest.raises(InputError, match=r"more than 262144 bytes"):
        load_bundle(write(tmp_path, bytes(2**18 + 1), data))
    with pytest.raises(InputError, match=r"absent\.index: cannot be read .No such file"):
        load_bundle(tmp_path / "absent")
    with pytest.raises(InputError, match="a key of the index"):
        load_bundle(write(tmp_path, table([*entries[:-1], (b"z" * 300, b"")]), data))
