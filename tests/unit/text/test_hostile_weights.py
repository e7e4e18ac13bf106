"""Files of weights whose header is not to be believed."""

import json

import pytest

pytest.importorskip("torch")

from biaslab.core.errors import InputError
from biaslab.hate_speech import training
from biaslab.text.encoder import load_classifier
from biaslab.text.language_model import BiGRU
from text_data import tiny_classifier


def packed(header: object, data: bytes = b"", announced: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if announced is None else announced).to_bytes(8, "little") + text + data


def tensor(shape, offsets, dtype="F32"):
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


HEADERS = {
    "no header": b"",
    "a header that is longer than the file": packed({}, announced=100),
    "no JSON": packed(b"{not json}"),
    "a tensor beyond the file": packed(tensor([2**40], [0, 2**42])),
    "a shape that is too large for its bytes": packed(tensor([2**60, 2**60], [0, 4]), bytes(4)),
    "another tensor": packed(tensor([1], [0, 4]), bytes(4)),
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_classifier(tmp_path_factory.mktemp("encoder") / "tiny", ["the", "baker", "bakes"])


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("reader", ["encoder", "language model", "checkpoint"])
def test_weights_with_a_wrong_header_are_refused(encoder, reader, header):
    path = encoder / "model.safetensors"
    path.write_bytes(HEADERS[header])
    read = {
        "encoder": lambda: load_classifier(encoder),
        "language model": lambda: BiGRU.load(path),
        "checkpoint": lambda: training._Run.resume(None, path, {}),
    }[reader]
    with pytest.raises(InputError) as caught:
        read()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
