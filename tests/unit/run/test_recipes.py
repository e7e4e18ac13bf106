"""Recipes: from made-up public files to a dataset, through HTTPS, and all that can be wrong with them."""

import contextlib
import gzip
import hashlib
import io
import json
import shutil
import ssl
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import recipe_files
from biaslab.cli import main
from biaslab.core.archives import tar_files
from biaslab.core.errors import InputError
from biaslab.core.files import read_yaml
from biaslab.core.io import read_npz
from biaslab.hate_speech import news
from biaslab.run.data.datasets import DOWNLOADS, Dataset, make, recipes
from web_data import serving

WORKFLOW = Path(__file__).parents[3] / "workflow"
RECIPES = recipes()
PLACE = "raw.githubusercontent.com/someone/something/0123/"


@dataclass(frozen=True)
class Case:
    """Public files by name, and how to see that what is made of them is right."""

    files: dict[str, bytes]
    check: Callable[[Path], None]


def archive(files, level=9):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"top-0123/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), level)


SENTENCES = {
    "all_files/1_1.txt": b"Bakers bake.",
    "LICENSE": b"share alike",
    "README.md": b"about",
    "annotations_metadata.csv": b"file_id,label\n1_1,noHate\n",
}
SAMPLES = {"sampled_test/1_1.txt": b"Bakers bake.", ".gitignore": b"x"}


def _stormfront(made):
    assert dict(tar_files(made, 2**20)) == {f"top-0123/{name}": data for name, data in SENTENCES.items()}


WEIGHTS = {
    "linear/kernel": np.arange(6, dtype="<f4").reshape(2, 3),
    "beta1_power": np.array(0.9, dtype="<f4"),
    "linear/bias/Adam": np.zeros(3, dtype="<f4"),
    "linear/bias": np.array([0.5, -1, 2], dtype="<f4"),
    "linear_1/kernel": np.ones((3, 2), dtype="<f4"),
    "linear_1/bias": np.zeros(2, dtype="<f4"),
}


def _tensorflow_layers(made):
    arrays = read_npz(made)
    names = {"W0": "linear/kernel", "b0": "linear/bias", "W1": "linear_1/kernel", "b1": "linear_1/bias"}
    assert set(arrays) == set(names)
    for name, variable in names.items():
        assert np.array_equal(arrays[name], WEIGHTS[variable])


LABELS = np.array([3, 0, 1, 1, 2], dtype="<i4")


def _kmeans_labels(made):
    assert made.read_text() == "cluster\n3\n0\n1\n1\n2\n"


ROADS = [f"The road number {number} was brown and the women of the town painted it." for number in range(700)]
ARTICLES = {
    "data/jsons/a.json": {
        "content_original": "Short: a race.\n\nA race of ten boats began at noon on the lake.” "
        "“Women and children watched it from the shore until it rained.\n"
        "The brown_boat is in no race but it has ten words, too.",
        "date": "2016-11-02",
    },
    "data/jsons/b.json": {"content_original": " ".join(ROADS), "date": "7/3/17"},
    "data/jsons/c.json": {
        "content_original": "A race of ten boats began at noon on the lake.\n" + "One woman " + "said " * 99,
        "date": "",
    },
    "data/jsons/d.json": {
        "content_original": "The woman of the U.S. team won and then she went home.",
        "date": "2050-09-30",
        "url": "https://news.example.org/2018/05/06/boats",
    },
    "data/splits/e.tsv": {},
}


def article(name, fields):
    about = {"ID": Path(name).stem, "source": "The Lake", "url": "https://news.example.org/1"}
    return json.dumps(about | fields).encode()


def _news(made):
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    found = {(row["identifier"], row["article"]): [] for row in rows}
    for row in rows:
        found[row["identifier"], row["article"]].append(row["text"])
    brown, women = found.pop(("brown", "b")), found.pop(("women", "b"))
    assert brown == sorted(brown) != women
    assert (len(brown), len(women)) == (500, 499 + (("women", "a") not in found))
    assert set(brown) | set(women) <= set(ROADS)
    found.pop(("women", "a"), None)
    assert found == {
        ("race", "a"): [
            "A race of ten boats began at noon on the lake.",
            "The brown_boat is in no race but it has ten words, too.",
        ],
        ("woman", "d"): ["The woman of the U.S. team won and then she went home."],
    }
    assert {row["article"]: row["date"] for row in rows} == {
        "a": "2016-11-02",
        "b": "2017-07-03",
        "d": "2018-05-06",
    }
    assert list(rows[0]) == ["identifier", "text", "article", "source", "date"]


COMPAS_HEADER = ["id", "name", "sex", "dob", "age", "race", "juv_fel_count", "decile_score", "juv_misd_count"]
COMPAS_HEADER += ["juv_other_count", "priors_count", "days_b_screening_arrest", "c_charge_degree", "is_recid"]
COMPAS_HEADER += ["decile_score", "score_text", "priors_count", "two_year_recid"]


def compas_table(n=60):
    """A made-up table with ProPublica's columns, two of them twice, and a row for each reason to go."""
    rows = []
    for i in range(n):
        sex, race, score = ("Male", "Female")[i % 2], ("Green", "Blue", "Red")[i % 3], i % 10 + 1
        counts, again = [i % 2, score, 0, i % 3, i % 7], int((i * 7) % 10 < score)
        text = ("Low", "High")[score > 4]
        rows.append(
            [i, "Somebody", sex, "1980-01-01", 20 + i % 40, race, *counts, i % 61 - 30, "FM"[i % 2], again]
        )
        rows[-1] += [score, text, i % 7, again]
    gone = [list(rows[0]) for _ in range(5)]
    for row, name, value in zip(
        gone,
        ("days_b_screening_arrest", "days_b_screening_arrest", "is_recid", "c_charge_degree", "score_text"),
        ("", 31, -1, "O", "N/A"),
        strict=True,
    ):
        row[COMPAS_HEADER.index(name)] = value
    lines = [",".join(map(str, row)) for row in [COMPAS_HEADER, *rows, *gone]]
    return "\r\n".join(lines).encode()


def _compas(made):
    table = pd.read_csv(made)
    assert len(table) == 60
    assert list(table)[:3] == ["sex", "age", "race"]
    assert not {"name", "dob", "id"} & set(table)
    assert b"\r" not in made.read_bytes()


CASES = {
    "compas": Case({"compas.csv": compas_table()}, _compas),
    "kmeans-labels": Case({"fit.pkl": recipe_files.clustering(LABELS)}, _kmeans_labels),
    "news-identity": Case({"archive": archive({n: article(n, a) for n, a in ARTICLES.items()})}, _news),
    "stormfront": Case({"archive": archive(SENTENCES | SAMPLES)}, _stormfront),
    "tensorflow-layers": Case(
        dict(zip(("m.index", "m.data"), recipe_files.checkpoint(WEIGHTS), strict=True)), _tensorflow_layers
    ),
}
FILENAMES = {"stormfront": "mine.tar", "tensorflow-layers": "mine.npz"}


def test_a_compas_table_that_is_cut_off_is_refused_with_the_line(tmp_path):
    cut = tmp_path / "raw.csv"
    cut.write_bytes(compas_table().rpartition(b",")[0])
    with pytest.raises(
        InputError,
        match=rf"raw\.csv, line 66: expected {len(COMPAS_HEADER)} fields, found {len(COMPAS_HEADER) - 1}",
    ):
        RECIPES["compas"].make([cut], tmp_path / "compas.csv")
    assert not (tmp_path / "compas.csv").exists()
    cut.write_bytes(b"")
    with pytest.raises(InputError, match="has no column 'sex'"):
        RECIPES["compas"].make([cut], tmp_path / "compas.csv")


HOSTS = ("raw.githubusercontent.com", "codeload.github.com")


@pytest.fixture(scope="module")
def pem(tmp_path_factory) -> Path:
    """Return a key and a certificate of the hosts in one file; skip the test where there is no openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl for a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    key, made = folder / "key.pem", folder / "certificate.pem"
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    options = ["-nodes", "-days", "2", "-subj", "/CN=data", "-addext", f"subjectAltName={names}"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *options]
    subprocess.run([*command, "-keyout", key, "-out", made], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


@contextlib.contextmanager
def hosts(pem: Path, files: dict[str, bytes]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Play the hosts by HTTPS and a proxy, with files by HOST/PATH.

    Yield the environment that leads to them, and a list of what is asked for.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            self.send_response(200)
            self.end_headers()
            host = self.path.partition(":")[0]
            with contextlib.suppress(OSError):
                self.connection = context.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = (self.connection.makefile(mode) for mode in ("rb", "wb"))
                self.answer(host)
            self.close_connection = True

        def answer(self, host: str) -> None:
            path = self.rfile.readline().split()[1].decode()
            while self.rfile.readline().strip():
                pass
            asked.append(f"{host}{path}")
            data = files.get(f"{host}{path}")
            code, body = (404, b"") if data is None else (200, data)
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_) -> None:
            pass

    with serving(Handler) as port:
        proxy = f"http://127.0.0.1:{port}"
        yield {"HTTPS_PROXY": proxy, "https_proxy": proxy, "no_proxy": "", "SSL_CERT_FILE": str(pem)}, asked


@pytest.fixture
def workplace(tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)

    def register(recipe):
        dataset = registered(recipe, tmp_path)
        table(asdict(dataset))
        return dataset

    return register


def registered(recipe, folder):
    made, paths = folder / "expected", written(CASES[recipe].files, folder / "public")
    RECIPES[recipe].make(paths, made)
    data = made.read_bytes()
    location = f"{recipe}:" + " ".join(f"https://{PLACE}{path.name}" for path in paths)
    name = FILENAMES.get(recipe, "mine.txt")
    digest = hashlib.sha256(data).hexdigest()
    return Dataset("mine", "1", "recipe", location, name, str(len(data)), digest, "CC0", "made up")


def written(files, folder):
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def run(*arguments):
    command = ["biaslab", "datasets", *map(str, arguments), "--registry", "resources/datasets.tsv"]
    said = io.StringIO()
    with patch.object(sys, "argv", command), redirect_stderr(said), pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, said.getvalue().splitlines()


def fetch(monkeypatch, pem, files):
    public = {f"{PLACE}{name}": data for name, data in files.items()}
    with hosts(pem, public) as (environment, asked):
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        return run("fetch", "mine", "--out", "out/mine"), asked


def refusal(result):
    """Return the one line that a refused command says last, after what it downloads."""
    code, said = result
    (line,) = [line for line in said if not line.startswith("downloading ")]
    assert (code, Path("out/mine").exists()) == (2, False)
    assert {path.name for path in DOWNLOADS.rglob("*") if path.is_file()} <= {".lock"}
    assert line.startswith("biaslab: ")
    return line


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_dataset_is_made_once_of_public_files(recipe, workplace, monkeypatch, pem):
    dataset = workplace(recipe)
    result, asked = fetch(monkeypatch, pem, CASES[recipe].files)
    assert result[0] == 0, result
    assert asked == [f"{PLACE}{name}" for name in CASES[recipe].files]
    made = Path("out/mine")
    assert hashlib.sha256(made.read_bytes()).hexdigest() == dataset.sha256
    CASES[recipe].check(made)
    made.unlink()
    result, asked = fetch(monkeypatch, pem, {})
    code, (said,) = result
    assert (code, asked) == (0, []), "it is kept"
    assert said.startswith(f"mine: made of https://{PLACE}")
    kept = [path.name for path in (DOWNLOADS / dataset.sha256).iterdir() if path.name != ".lock"]
    assert kept == [dataset.filename], "what it was made of is not"


@pytest.mark.parametrize("recipe", sorted(set(RECIPES) - {"compas", "tensorflow-layers"}))  # leave bytes out
def test_a_wrong_byte_is_refused(recipe, workplace, monkeypatch, pem):
    workplace(recipe)
    for name, data in CASES[recipe].files.items():
        for place in (0, len(data) // 2, len(data) - 1):
            wrong = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            result, _ = fetch(monkeypatch, pem, CASES[recipe].files | {name: wrong})
            assert "dataset 'mine': " in refusal(result)


def test_a_moved_file_is_said(workplace, monkeypatch, pem):
    recipe = "tensorflow-layers"
    workplace(recipe)
    for name in CASES[recipe].files:
        result, _ = fetch(monkeypatch, pem, {n: d for n, d in CASES[recipe].files.items() if n != name})
        said = refusal(result)
        assert f"dataset 'mine': https://{PLACE}{name}: the server answers 404 (Not Found)" in said
        assert said.endswith("or set datasets: paths: mine: FILE")


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_no_such_file_at_all_is_refused(recipe, workplace, monkeypatch, pem):
    workplace(recipe)
    for data in (b"", bytes(range(256)) * 300, gzip.compress(bytes(10**5))):
        result, _ = fetch(monkeypatch, pem, dict.fromkeys(CASES[recipe].files, data))
        assert "dataset 'mine': " in refusal(result)


def test_without_a_connection_it_is_said_once(workplace, monkeypatch):
    workplace("tensorflow-layers")
    for key in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(key, "http://127.0.0.1:9")
    assert "no connection" in refusal(run("fetch", "mine", "--out", "out/mine"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_dataset_is_made_of_files_at_hand(recipe, workplace, tmp_path):
    dataset = workplace(recipe)
    paths = written(CASES[recipe].files, tmp_path / "public")

    def make(*files):
        options = [option for file in files for option in ("--made-of", file)]
        return run("fetch", "mine", *options, "--out", "out/mine")

    assert make(*paths) == (0, [])
    assert hashlib.sha256(Path("out/mine").read_bytes()).hexdigest() == dataset.sha256
    Path("out/mine").unlink()
    assert "no such file" in refusal(make(*paths[1:], "absent"))
    said = refusal(make(*paths, paths[0]))
    assert f"needs {len(paths)} source file{'s' * (len(paths) > 1)}, not {len(paths) + 1}" in said
    assert f"https://{PLACE}{paths[0].name}" in said
    paths[0].write_bytes(b"")
    refusal(make(*paths))


def test_what_has_no_recipe_is_not_made(tmp_path):
    row = Dataset("mine", "1", "local", "-", "mine.txt", "1", "0" * 64, "CC0", "ask")
    with pytest.raises(InputError, match=r"^dataset 'mine' has no recipe \(it is: local\); fetch it"):
        make(row, [], out=tmp_path / "out")


FOREIGN = {
    b"cos\nmkdir\n(X\x04\x00\x00\x00evilt\x85R0": "the name 'os mkdir' is not allowed",
    b"X\x02\x00\x00\x00osX\x05\x00\x00\x00mkdir\x93": "the name 'os mkdir' is not allowed",
    b"(X\x04\x00\x00\x00evilios\nmkdir\n": "the name 'os mkdir' is not allowed",
    b"cbuiltins\neval\n": "the name 'builtins eval' is not allowed",
    b"Pevil\n": "persistent",
    b"\x82\x01": "unregistered extension code 1",
    b"\xff": "invalid load key",
}
"""What no such file holds, and why it is refused."""


FIT = CASES["kmeans-labels"].files["fit.pkl"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "Ran out of input"),
        (b"\x80\x03}.", "the file contains no clustering"),
        (b"\x80\x03.", "unpickling stack underflow"),
        (recipe_files.clustering(LABELS) + b"more", "data follow the end"),
        (recipe_files.clustering(LABELS.astype("<f8")), "labels_ is not a list of integers"),
        (recipe_files.clustering(LABELS[None]), "labels_ is not a list of integers"),
        (recipe_files.clustering(LABELS, n_rows=10**15), "an array is cut off"),
        (recipe_files.clustering(LABELS, n_rows=-1), "an array has an unexpected form"),
        (recipe_files.clustering(LABELS, kind="O"), "an array has an unexpected number type"),
        (b"\x80\x03" + b"(" * 10**5 + b"t" * 10**5 + b".", "the file contains no clustering"),
        (b"\x80\x03h\x07.", "Memo value not found at index 7"),
        *((FIT[:2] + what + FIT[2:], problem) for what, problem in FOREIGN.items()),
        *((FIT[:-1] + what + FIT[-1:], problem) for what, problem in FOREIGN.items()),
    ],
)
def test_other_pickles_are_refused_and_nothing_of_them_is_done(tmp_path, monkeypatch, data, problem):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "fit.pkl"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        RECIPES["kmeans-labels"].make([path], tmp_path / "labels.csv")
    assert str(caught.value).startswith(f"{path}: not a pickled k-means clustering (")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("evil").exists()
    assert not Path("labels.csv").exists()


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"ID": 1}', b"[" * 10**5, b"\xff"])
def test_what_is_no_article_is_refused(tmp_path, data):
    (tmp_path / "a.tar").write_bytes(archive({"data/jsons/x.json": data}))
    with pytest.raises(InputError, match=r"a.tar: top-0123/data/jsons/x.json: (not JSON|no article)"):
        news.draw_sentences([tmp_path / "a.tar"], tmp_path / "out")


def test_the_identifiers_of_the_news_are_those_of_the_corpus():
    listed = read_yaml(WORKFLOW / "resources/hate_speech/identifiers_ghc.yaml")["terms"]
    assert list(news.IDENTIFIERS) == listed
