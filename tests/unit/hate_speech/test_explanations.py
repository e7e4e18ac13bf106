"""Occlusion and SOC, and the contexts that SOC draws: against the published loops, and what must hold."""

import copy
import json
import zlib
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")


import torch
from safetensors.torch import load_file, save_file

from biaslab.hate_speech import contexts
from biaslab.hate_speech.adapters import load_folder
from biaslab.hate_speech.contexts import OC, SOC_REGULARIZATION, ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import (
    Explainer,
    explain_by_leaving_out,
    explain_sentences,
    find_occurrences,
    importance,
    regularizer,
    summarize,
    word_spans,
)
from biaslab.text.devices import generator
from biaslab.text.encoder import load_classifier
from biaslab.text.language_model import BiGRU, LanguageModelSettings, train_language_model
from biaslab.text.tokens import Tokenizer
from naive import hate_speech_explanations as naive
from naive.text import score
from own_texts_data import WORDS as OWN_WORDS
from own_texts_data import remarks
from refusals import refused
from text_data import tiny_classifier

WORDS = ["the", "baker", "bakers", "gardener", "likes", "bread", "and", "flowers", "today", "very"]
PIECES = ["gar", "##den", "##ing", "##s", "re", "##bake"]
TEXTS = [
    "the baker likes the gardening baker and rebakes bread today",
    "bakers likes bread and flowers today",
    "the very very baker gardener baker likes bread, and flowers and the bakers today",
    "flowers and bread",
    "gardener",
]
NAMES = ("baker", "bakers", "gardener")
N_TOKENS = 25  # at most as many as the tokenizer has
SOC = ContextSettings(radius=3, samples=4, add_itself=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_classifier(tmp_path_factory.mktemp("encoder"), [*WORDS, *PIECES])


@pytest.fixture(scope="module")
def tokenizer(folder):
    return Tokenizer.load(folder / "vocab.txt")


@pytest.fixture
def model(folder):
    return load_classifier(folder)


@pytest.fixture(scope="module")
def language_model(tokenizer):
    n = len(tokenizer.vocabulary)
    return BiGRU(np.arange(n), n, tokenizer.unk, 8, 8).initialize(1).eval()


@pytest.fixture(scope="module")
def tokens(tokenizer):
    return tokenizer.encode(TEXTS)


@pytest.fixture(scope="module")
def batch(tokens, tokenizer):
    """Return the sentences as a batch, and the identifiers in it: several in one row, some adjacent."""
    ids, mask = tokens.padded(np.arange(len(tokens)), tokenizer.pad)
    found = find_occurrences(ids, {tokenizer.vocabulary.index(name) for name in NAMES})
    assert np.bincount(found.row, minlength=len(ids)).tolist() == [2, 1, 4, 0, 1]
    return torch.from_numpy(ids), torch.from_numpy(mask), found


@pytest.fixture
def explain(batch, tokenizer, language_model):
    def explain(score, settings, seed=1, **options):
        ids, mask, found = batch
        filled = fill_contexts(ids, mask, found, settings, language_model, tokenizer, generator(seed, "draw"))
        return importance(score, ids, mask, found, filled, tokenizer.pad, **options), filled

    return explain


def literal(score, ids, mask, phrase, contexts, tokenizer):
    """φ of one phrase by the oracle, of one sentence after the other."""
    start, end = phrase
    return naive.phi(
        lambda ids, mask: score(torch.tensor([ids]), torch.tensor([mask]).bool())[0],
        ids, mask, (start, end - 1), contexts, tokenizer.pad,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "tolerance", "share"), [(torch.float32, 1e-5, True), (torch.float64, 1e-10, False)]
)
@pytest.mark.parametrize("settings", [OC, SOC], ids=["oc", "soc"])
def test_batched_equals_the_published_loop(
    model, explain, batch, tokenizer, dtype, tolerance, settings, share
):
    ids, mask, found = batch
    score_of = partial(score, model.to(dtype))
    with torch.no_grad():
        phi, filled = explain(score_of, settings, share=share)
        expected = [
            literal(score_of, ids[row].tolist(), mask[row].tolist(), span, filled[i].tolist(), tokenizer)
            for i, (row, *span) in enumerate(zip(found.row, found.start, found.end, strict=True))
        ]
    expected = torch.stack(expected)
    scale = expected.abs().max()
    assert scale > 0.01
    assert phi.dtype == dtype
    assert (phi - expected).abs().max() <= tolerance * scale


@pytest.mark.parametrize("n_contexts", [3, 7, 9])
def test_the_mean_of_equal_falls_is_that_fall(tokenizer, n_contexts):
    """Also where the sum of n equal numbers, divided by n, is another number."""
    n = 500
    effects = torch.randn(n, generator=torch.Generator().manual_seed(1))
    ids, mask = torch.arange(n)[:, None].repeat(1, 3), torch.ones(n, 3, dtype=torch.bool)
    phrases = Occurrences(np.arange(n), np.ones(n, np.int64), np.full(n, 2))

    def phi(n_contexts):
        filled = ids[:, None].expand(-1, n_contexts, -1)
        return importance(
            lambda ids, mask: (effects[ids] * mask).sum(1), ids, mask, phrases, filled, tokenizer.pad
        )

    assert torch.equal(phi(n_contexts), phi(1))


def test_importance_depends_neither_on_padding_nor_on_the_batch(model, batch, tokenizer, explain):
    ids, mask, found = batch
    model.double()
    with torch.no_grad():
        phi, filled = explain(partial(score, model), SOC)
        wide = [torch.nn.functional.pad(part, (0, 11)) for part in (ids, mask, filled)]
        padded = importance(partial(score, model), *wide[:2], found, wide[2], tokenizer.pad)
        alone = [
            importance(
                partial(score, model), ids, mask, found.part(slice(i, i + 1)), filled[[i]], tokenizer.pad
            )
            for i in range(len(found))
        ]
    torch.testing.assert_close(padded, phi, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(torch.cat(alone), phi, rtol=1e-10, atol=1e-12)


def test_a_word_that_the_model_ignores_has_no_importance_except_under_dropout(batch, explain, tokenizer):
    weights = torch.randn(len(tokenizer.vocabulary), 8, generator=torch.Generator().manual_seed(1))
    weights[[tokenizer.pad, *(tokenizer.vocabulary.index(name) for name in NAMES)]] = 0
    dropout = torch.nn.Dropout(0.1)

    def ignoring(ids, mask):
        return (dropout(weights[ids]) * mask[..., None]).sum((1, 2))

    for settings in (OC, SOC):
        phi, _ = explain(ignoring, settings, share=False)
        assert phi.abs().max() > 0.05  # dropout draws anew for the pass without the word
        dropout.eval()
        phi, _ = explain(ignoring, settings)
        assert (phi == 0).all()
        dropout.train()


def words_by_loop(model, tokens, row, tokenizer):
    """OC of every word of a sentence, one pass after the other."""
    ids, words = tokens.row(row).tolist(), word_spans(tokens, row)
    return [
        float(literal(partial(score, model), ids, [True] * len(ids), span, [ids], tokenizer))
        for span in zip(words.start, words.end, strict=True)
    ]


@pytest.mark.parametrize("max_tokens", [1, 100_000])
def test_words_are_explained_in_any_chunks(model, tokens, tokenizer, max_tokens):
    model.double().train()
    rows = [4, 0, 2, 3]
    table = Explainer(model, tokenizer, OC, max_tokens=max_tokens).explain_words(tokens, rows)
    assert model.training
    assert table["row"].tolist() == sorted(table["row"])
    model.eval()
    for row in rows:
        part = table[table["row"] == row]
        assert part["word"].tolist() == tokenizer.words(TEXTS[row])
        assert part["position"].tolist() == list(range(len(part)))
        with torch.no_grad():
            expected = words_by_loop(model, tokens, row, tokenizer)
        np.testing.assert_allclose(part["phi"], expected, rtol=1e-10, atol=1e-12)


def test_contexts_of_a_sentence_do_not_depend_on_the_others(model, tokens, tokenizer, language_model):
    model.double()
    explainer = Explainer(model, tokenizer, SOC, language_model)
    everything = explainer.explain_words(tokens, range(len(tokens)))
    alone = replace(explainer, max_tokens=1).explain_words(tokens, [2])
    part = everything[everything["row"] == 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, alone, rtol=1e-10)
    other = replace(explainer, seed=2).explain_words(tokens, [2])
    assert (other["phi"] != alone["phi"]).any()


def test_a_sentence_without_words_has_no_rows(model, tokenizer):
    tokens = tokenizer.encode(["", "the baker"])
    assert Explainer(model, tokenizer, OC).explain_words(tokens, [0, 1])["row"].tolist() == [1, 1]
    nothing = Explainer(model, tokenizer, OC).explain_words(tokens, [])
    assert nothing.empty
    assert nothing.columns.tolist() == ["row", "position", "word", "phi"]


def test_phrases_of_one_word_are_its_explanation(model, tokens, tokenizer):
    model.double()
    words = Explainer(model, tokenizer, OC).explain_words(tokens, [0])
    phi = Explainer(model, tokenizer, OC, max_tokens=200).phrase_importance(tokens, 0)
    n = len(words)
    np.testing.assert_allclose(phi([(i, i + 1) for i in range(n)]), words["phi"], rtol=1e-10)
    ids, mask = (torch.from_numpy(part) for part in tokens.padded([0], tokenizer.pad))
    empty = mask.clone()
    empty[0, 1:-1] = False
    with torch.no_grad():
        fall = score(model, ids, mask) - score(model, ids, empty)
    np.testing.assert_allclose(phi([(0, n)]), fall.numpy(), rtol=1e-10)


def test_explaining_leaves_the_model_and_the_global_random_numbers_alone(
    model, tokens, tokenizer, language_model
):
    before = copy.deepcopy(model.state_dict())
    torch.manual_seed(3)
    state = torch.get_rng_state()
    Explainer(model, tokenizer, SOC, language_model).explain_words(tokens, [0, 1])
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())


@pytest.fixture
def ids(tokenizer):
    return {name: tokenizer.vocabulary.index(name) for name in NAMES}


@pytest.mark.parametrize("max_tokens", [60, 16_384])
def test_identifiers_are_explained_as_the_words_that_they_are(model, tokens, tokenizer, ids, max_tokens):
    words = Explainer(model.double(), tokenizer, OC).explain_words(tokens, range(len(tokens)))
    expected = words[words["word"].isin(NAMES)].reset_index(drop=True)
    model.train()
    found = Explainer(model, tokenizer, OC, max_tokens=max_tokens).identifier_importance(tokens, ids)
    assert model.training
    assert found["row"].tolist() == [0, 0, 1, 2, 2, 2, 2, 4]
    assert found[["row", "identifier"]].to_numpy().tolist() == expected[["row", "word"]].to_numpy().tolist()
    np.testing.assert_allclose(found["phi"], expected["phi"], rtol=1e-10, atol=1e-12)


def test_no_pass_reads_more_tokens_than_it_may(model, tokens, tokenizer, ids, language_model, monkeypatch):
    read = []

    def counting(model, ids, mask):
        read.append(ids.numel())
        return score(model, ids, mask)

    monkeypatch.setattr("biaslab.text.packing.score", counting)
    Explainer(model, tokenizer, SOC, language_model, 1, 200).identifier_importance(tokens, ids)
    alone = 2 * SOC.n_contexts * int(tokens.lengths.max())  # one occurrence in the longest text
    assert max(read) <= max(200, alone)
    assert len(read) > 1


def test_texts_without_identifiers_have_none(model, batch, tokenizer, ids):
    tokens = tokenizer.encode(["flowers", "the bread"])
    found = Explainer(model, tokenizer, OC).identifier_importance(tokens, ids)
    assert found.empty
    assert list(found) == ["row", "identifier", "phi"]
    assert summarize(found, ids)["n"].tolist() == [0, 0, 0]
    nothing = find_occurrences(batch[0].numpy(), [])
    filled = fill_contexts(*batch[:2], nothing, SOC_REGULARIZATION, None, tokenizer, None)
    phi = importance(partial(score, model), *batch[:2], nothing, filled, tokenizer.pad)
    assert phi.shape == (0,)
    assert regularizer(phi, len(TEXTS)).item() == 0


def test_means_are_over_occurrences_in_the_order_of_the_identifiers():
    occurrences = pd.DataFrame(
        {"row": [0, 1, 1, 4], "identifier": ["b", "a", "b", "b"], "phi": [0.5, -2.0, -1.5, 0.25]}
    )
    table = summarize(occurrences, {"a": 9, "c": 8, "b": 7}).set_index("identifier")
    assert table.index.tolist() == ["a", "c", "b"]
    assert table["n"].tolist() == [1, 0, 3]
    assert table.loc["a", ["mean_phi", "mean_abs_phi"]].tolist() == [-2.0, 2.0]
    assert table.loc["b", "mean_phi"] == pytest.approx(-0.25)
    assert table.loc["b", "mean_abs_phi"] == pytest.approx(0.75)
    assert table.loc["c"].isna().sum() == 2


SENTENCES = ["The sailors left the gate open.", "we met the children today"]


REMARKS = [text for text, *_ in remarks(30)]


@pytest.fixture
def tiny(tmp_path):
    return tiny_classifier(tmp_path / "tiny", OWN_WORDS)


@pytest.fixture
def classifier(tiny):
    return load_folder(tiny, "cpu")


def test_the_first_level_is_the_occlusion_of_each_word(classifier):
    found = explain_sentences(classifier, SENTENCES, OC, None, seed=1)
    tokens = classifier.tokens(SENTENCES)
    words = Explainer(classifier.model, classifier.tokenizer, OC).explain_words(tokens, [0, 1])
    for row, one in enumerate(found):
        expected = words[words["row"] == row]
        assert one.words == expected["word"].tolist()
        assert [phi for *_, phi in one.levels[0]] == pytest.approx(expected["phi"].tolist(), abs=1e-5)
        assert one.score == pytest.approx(classifier.scores(SENTENCES)[row], abs=1e-5)


def test_a_classifier_with_its_labels_in_the_other_order_is_explained_alike(tiny, classifier):
    plain = explain_sentences(classifier, SENTENCES, OC, None, seed=1)
    weights, config = tiny / "model.safetensors", json.loads((tiny / "config.json").read_text())
    (tiny / "config.json").write_text(json.dumps(config | {"id2label": {"0": "complaint", "1": "fine"}}))
    tensors = load_file(weights)
    turned = {k: v.flip(0).contiguous() if k.startswith("classifier.") else v for k, v in tensors.items()}
    save_file(turned, weights, {"format": "pt"})
    twin = explain_sentences(load_folder(tiny, "cpu", "complaint"), SENTENCES, OC, None, seed=1)
    assert [one.score for one in twin] == [one.score for one in plain]
    assert [one.levels for one in twin] == [one.levels for one in plain]


def test_words_that_the_classifier_never_sees_are_not_explained(tiny):
    (tiny / "training.json").write_text(json.dumps({"removed": ["sailors"]}))
    classifier = load_folder(tiny, "cpu")
    (one,) = explain_sentences(classifier, SENTENCES[:1], OC, None, seed=1)
    assert one.words == ["the", "left", "the", "gate", "open", "."]
    np.testing.assert_allclose(one.score, classifier.scores(SENTENCES[:1])[0], rtol=1e-5)
    with refused("sentence 1 has no word that the classifier sees"):
        explain_sentences(classifier, ["Sailors"], OC, None, seed=1)


def test_a_sentence_of_300_words_is_explained_in_part_and_says_so(tmp_path):
    classifier = load_folder(tiny_classifier(tmp_path, OWN_WORDS, positions=256), "cpu")
    text, limits = "bread " * 300, "The first 200 of "
    (found,) = explain_sentences(classifier, [text], OC, None, seed=1)
    assert len(found.words) == 200
    unread = "The classifier reads 256 word pieces of the sentence: the last 46 are not read."
    assert found.limits == (unread, f"{limits}254 words are explained.")
    (found,) = explain_by_leaving_out(classifier, [text])
    assert found.limits == (unread, f"{limits}300 words are explained.")


def language_model_of(classifier):
    tokens, settings = classifier.tokens(REMARKS), LanguageModelSettings(epochs=1, width=8)
    return train_language_model(tokens, tokens, classifier.tokenizer, settings, 1)[0]


def test_contexts_are_sampled_from_texts_alike_for_equal_seeds(classifier):
    model = language_model_of(classifier)
    settings = ContextSettings(radius=3, samples=4)
    first, again = (explain_sentences(classifier, SENTENCES, settings, model, seed=1) for _ in range(2))
    other = explain_sentences(classifier, SENTENCES, settings, model, seed=2)
    plain = explain_sentences(classifier, SENTENCES, OC, None, seed=1)
    assert first == again
    assert first[0].levels != other[0].levels
    assert first[0].levels != plain[0].levels
    assert first[0].score == plain[0].score


def test_a_language_model_of_another_encoder(classifier, tmp_path):
    other = load_folder(tiny_classifier(tmp_path / "other", [*OWN_WORDS, "quince"]), "cpu")
    model = language_model_of(other)
    with refused(r"knows a vocabulary of \d+ tokens, the classifier"):
        explain_sentences(classifier, SENTENCES, ContextSettings(2, 2), model, seed=1)


# --- contexts


def scripted(side, context, sample, n):
    """Return n tokens in reading order that depend on all that is read and on the number of the sample."""
    digest = zlib.crc32(repr((side, [int(t) for t in context], int(sample))).encode())
    outwards = np.random.default_rng(digest).integers(N_TOKENS, size=50)[:n]
    return outwards if side == "right" else outwards[::-1]


def script(monkeypatch):
    """Put the scripted tokens in the place of the language model."""

    def draw(model, ids, n_tokens, samples, generator, exclude, lengths, is_left):
        side = "left" if is_left else "right"
        rows = [row[:length] for row, length in zip(ids.tolist(), lengths.tolist(), strict=True)]
        return torch.tensor(
            np.array([[scripted(side, row, j, n_tokens) for j in range(samples)] for row in rows])
        )

    monkeypatch.setattr(contexts, "sample", draw)


@pytest.mark.parametrize("radius", [0, 1, 20])
@pytest.mark.parametrize("add_itself", [False, True])
@pytest.mark.parametrize("quirks", [(), ("independent",), ("pad",)])
def test_contexts_are_those_of_the_published_loop(monkeypatch, batch, tokenizer, radius, add_itself, quirks):
    script(monkeypatch)
    ids, mask, occurrences = batch
    settings = ContextSettings(radius, 3, add_itself, "independent" not in quirks, "pad" not in quirks)
    filled = fill_contexts(ids, mask, occurrences, settings, object(), tokenizer, None)
    for i, (row, start, end) in enumerate(
        zip(occurrences.row, occurrences.start, occurrences.end, strict=True)
    ):
        expected = naive.soc_contexts(
            ids[row].tolist(),
            mask[row].tolist(),
            (start, end - 1),
            radius=radius,
            samples=3,
            add_itself=add_itself,
            draw_right=lambda context, sample: scripted("right", context, sample, radius).tolist(),
            # Given the right side drawn, each context of a chain is one of its own.
            draw_left=lambda context, sample: scripted(
                "left", context, sample if "independent" in quirks else 0, radius
            ).tolist(),
            pad=tokenizer.pad,
            bounds=(tokenizer.cls, tokenizer.sep),
            quirks=quirks,
        )
        assert filled[i].tolist() == expected


def test_no_special_token_is_drawn_unless_asked_for(batch, tokenizer, language_model):
    ids, mask, occurrences = batch
    settings = ContextSettings(4, 200)
    filled = fill_contexts(ids, mask, occurrences, settings, language_model, tokenizer, generator(1, "draw"))
    base = ids[occurrences.row][:, None]
    assert not tokenizer.is_special[filled[filled != base].numpy()].any()
    quirk = ContextSettings(4, 200, exclude_specials=False)
    drawn = fill_contexts(ids, mask, occurrences, quirk, language_model, tokenizer, generator(1, "draw"))
    new = drawn[drawn != base]
    assert (new == tokenizer.pad).any()
    assert not ((new == tokenizer.cls) | (new == tokenizer.sep)).any()


def test_equal_seeds_draw_equal_contexts(batch, tokenizer, language_model):
    ids, mask, occurrences = batch
    settings = ContextSettings(5, 5, add_itself=True)

    def fill(seed):
        return fill_contexts(
            ids, mask, occurrences, settings, language_model, tokenizer, generator(seed, "draw")
        )

    assert torch.equal(fill(1), fill(1))
    assert not torch.equal(fill(1), fill(2))
    assert torch.equal(fill(1)[:, -1], ids[occurrences.row])


def test_a_missing_language_model_is_refused(batch, tokenizer):
    with refused("radius: 5 needs a language model"):
        fill_contexts(*batch, ContextSettings(5, 5), None, tokenizer, None)
