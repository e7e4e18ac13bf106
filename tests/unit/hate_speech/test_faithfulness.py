# ruff: noqa: E402 (torch is optional)
"""Comprehensiveness and sufficiency, against one sentence at a time, and of a linear classifier."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.hate_speech.contexts import OC
from biaslab.hate_speech.explanations import explain_words, word_spans
from biaslab.hate_speech.faithfulness import SHARES, faithfulness
from biaslab.text.encoder import load_classifier, score
from biaslab.text.tokens import Tokenizer
from naive import hate_speech_explanations as naive
from text_data import tiny_classifier

WORDS = ["the", "baker", "bakes", "bread", "and", "cake", "today", "gardener", "plants", "flowers"]
PIECES = ["gar", "##den", "##ing"]
TEXTS = [
    "the baker bakes bread and cake today",
    "the gardener plants flowers and the baker bakes gardening cake and bread today",
    "flowers",
    "baker and gardener",
]
MEASURES = ["comprehensiveness", "sufficiency"]


class Linear(torch.nn.Module):
    """A classifier whose score is the sum of a weight for every token that is attended to."""

    def __init__(self, weights):
        super().__init__()
        self.weights = torch.nn.Parameter(weights)
        self.dropout = torch.nn.Dropout(0.5)
        self.config = SimpleNamespace(max_position_embeddings=128)

    def forward(self, ids, mask):
        one = (self.dropout(self.weights[ids]) * mask).sum(1)
        return torch.stack([torch.zeros_like(one), one], dim=1)


@pytest.fixture(autouse=True)
def padded_scores(monkeypatch):
    """Score by calling the model: the packed form looks into a BERT."""
    monkeypatch.setattr("biaslab.hate_speech.faithfulness.score", score)
    monkeypatch.setattr("biaslab.hate_speech.explanations.score_of", score)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_classifier(tmp_path_factory.mktemp("encoder"), [*WORDS, *PIECES])


@pytest.fixture(scope="module")
def tokenizer(folder):
    return Tokenizer.load(folder / "vocab.txt")


@pytest.fixture(scope="module")
def tokens(tokenizer):
    return tokenizer.encode(TEXTS)


@pytest.fixture
def linear(tokenizer):
    weights = torch.zeros(len(tokenizer.vocabulary), dtype=torch.float64)
    for place, word in enumerate(WORDS):
        weights[tokenizer.vocabulary.index(word)] = (-1.0) ** place * (place + 1) / 4
    return Linear(weights)


def one_by_one(model, ids, mask):
    with torch.no_grad():
        return float(score(model, torch.tensor([ids]), torch.tensor([mask]).bool())[0])


@pytest.mark.parametrize("max_tokens", [1, 100, 100_000])
def test_measures_are_those_of_eraser_sentence_by_sentence(folder, tokens, tokenizer, max_tokens):
    model = load_classifier(folder).double()
    with torch.no_grad():
        model.classifier.weight.mul_(30)  # scores that a probability shows
        model.classifier.bias[1] -= 7  # long sentences of both classes
    attributions = explain_words(model, tokens, [0, 1, 2, 3], OC, tokenizer)
    shuffled = attributions.sample(frac=1, random_state=1)
    table = faithfulness(
        model, tokens, shuffled, tokenizer.pad, n_random=3, seed=7, max_tokens=max_tokens
    ).set_index("row")
    signs = []
    for row in range(len(TEXTS)):
        ids, words = tokens.row(row).tolist(), word_spans(tokens, row)
        spans = list(zip(words.start, words.end, strict=True))
        phi = attributions.loc[attributions["row"] == row, "phi"].to_numpy()
        signs.append(one_by_one(model, ids, [True] * len(ids)) > 0)
        order = sorted(range(len(phi)), key=lambda i: -phi[i] if signs[-1] else phi[i])
        random = stream(7, "faithfulness", row)
        orders = [order, *(random.permutation(len(phi)).tolist() for _ in range(3))]
        found = np.array(
            [
                np.mean(
                    [
                        naive.eraser(
                            partial(one_by_one, model),
                            ids,
                            [True] * len(ids),
                            spans,
                            one,
                            share,
                            tokenizer.pad,
                        )
                        for share in SHARES
                    ],
                    axis=0,
                )
                for one in orders
            ]
        )
        assert table.loc[row, "n_words"] == len(spans)
        np.testing.assert_allclose(table.loc[row, MEASURES].to_numpy(float), found[0], atol=1e-12)
        null = table.loc[row, [f"{m}_random" for m in MEASURES]].to_numpy(float)
        np.testing.assert_allclose(null, found[1:].mean(axis=0), atol=1e-12)
    assert signs[:2] == [False, True]
    assert table[MEASURES].abs().to_numpy().max() > 0.05


def test_the_true_explanation_is_more_faithful_than_random_ones_and_its_opposite_less(
    linear, tokens, tokenizer
):
    linear.train()
    attributions = explain_words(linear, tokens, [0, 1], OC, tokenizer)
    weights = linear.weights.detach()[
        [tokenizer.vocabulary.index(word) for word in tokenizer.words(TEXTS[0])]
    ]
    np.testing.assert_allclose(attributions.loc[attributions["row"] == 0, "phi"], weights, atol=1e-12)
    true = faithfulness(linear, tokens, attributions, tokenizer.pad, n_random=50)
    assert linear.training  # and yet no dropout: the numbers are exact
    assert (true["comprehensiveness"] > true["comprehensiveness_random"]).all()
    assert (true["sufficiency"] < true["sufficiency_random"]).all()
    opposite = faithfulness(
        linear, tokens, attributions.assign(phi=-attributions["phi"]), tokenizer.pad, n_random=50
    )
    assert (opposite["comprehensiveness"] < opposite["comprehensiveness_random"]).all()
    assert (opposite["sufficiency"] > opposite["sufficiency_random"]).all()


def test_all_words_taken_away_and_all_words_kept(linear, tokens, tokenizer):
    attributions = explain_words(linear, tokens, [0], OC, tokenizer)
    table = faithfulness(linear, tokens, attributions, tokenizer.pad, shares=[1.0])
    whole = float(attributions["phi"].sum())
    assert table["sufficiency"].item() == pytest.approx(0, abs=1e-12)
    assert table["comprehensiveness"].item() == pytest.approx(1 / (1 + np.exp(-abs(whole))) - 0.5)
    assert table["comprehensiveness_random"].item() == pytest.approx(table["comprehensiveness"].item())


def test_shares_are_rounded_up(linear, tokens, tokenizer):
    """Row 3 has three words: a third of them is one, a little more is two."""
    attributions = explain_words(linear, tokens, [3], OC, tokenizer)

    def fall(share):
        found = faithfulness(linear, tokens, attributions, tokenizer.pad, shares=[share])
        return found["comprehensiveness"].item()

    assert fall(0.01) == fall(1 / 3) != fall(0.34) == fall(2 / 3)


def test_equal_seeds_give_equal_nulls(linear, tokens, tokenizer):
    attributions = explain_words(linear, tokens, [0, 1], OC, tokenizer)
    measure = partial(faithfulness, linear, tokens, attributions, tokenizer.pad)
    assert measure(seed=1).equals(measure(seed=1))
    assert (measure(seed=1)["sufficiency_random"] != measure(seed=2)["sufficiency_random"]).any()


def test_nothing_to_measure_is_an_empty_table(linear, tokens, tokenizer):
    attributions = explain_words(linear, tokens, [], OC, tokenizer)
    table = faithfulness(linear, tokens, attributions, tokenizer.pad)
    assert not len(table)
    assert set(MEASURES) < set(table.columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shares": []}, "shares"),
        ({"shares": [0.0]}, "shares"),
        ({"shares": [1.2]}, "shares"),
        ({"n_random": 0}, "n_random: 0 is too few"),
    ],
)
def test_impossible_settings_are_refused(linear, tokens, tokenizer, options, message):
    attributions = explain_words(linear, tokens, [0], OC, tokenizer)
    with pytest.raises(InputError, match=message):
        faithfulness(linear, tokens, attributions, tokenizer.pad, **options)


def test_attributions_must_be_one_a_word(linear, tokens, tokenizer):
    attributions = explain_words(linear, tokens, [0], OC, tokenizer)
    with pytest.raises(InputError, match="sentence 0: 6 attributions for 7 words"):
        faithfulness(linear, tokens, attributions.iloc[1:], tokenizer.pad)
