"""Steps of training regularized by explanations, against vanilla ones and a loop over occurrences."""

import argparse
import os
import tempfile
import time
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.hate_speech.contexts import Occurrences, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences, importance, regularizer
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.objective import Batches, Objective, Regularization
from biaslab.hate_speech.optimizers import bert_adam
from biaslab.run.data import datasets
from biaslab.text.bert import compact_embeddings
from biaslab.text.corpora import read_stormfront
from biaslab.text.devices import generator, make_deterministic, step_seed
from biaslab.text.encoder import EncoderFiles, load_classifier, prepare_encoder
from biaslab.text.identifiers import identifier_ids, read_identifiers
from biaslab.text.language_model import BiGRU, known_tokens
from biaslab.text.tokens import SPECIAL, TRAINED_LENGTH, Tokenizer, Tokens

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

REPOSITORY = Path(__file__).resolve().parents[1]
IDENTIFIERS = REPOSITORY / "workflow/resources/hate_speech/identifiers_stormfront.yaml"
N_TRAIN, BATCH, SEED = 7896, 32, 1
STEPS = 32
MEAN_LENGTH, PER_SENTENCE = 23, 0.1
"""Of the made sentences: tokens and identifiers, on average, as in Stormfront's."""
GOALS = {"oc-0.1": 1.5, "soc-0.1": 2.5}
FASTER_THAN_LOOP = 3


def load_stormfront(tokenizer):
    """Return the tokens of Stormfront's sentences and the ids of its identifiers."""
    registry = datasets.load_registry(REPOSITORY / "workflow/resources/datasets.tsv")
    mirror = os.environ.get("BIASLAB_MIRROR", str(REPOSITORY / "../shared/data"))
    texts = read_stormfront(datasets.resolve(registry["stormfront"], None, mirror).location).text
    return tokenizer.encode(texts[:N_TRAIN]), identifier_ids(read_identifiers(IDENTIFIERS), tokenizer)


def make_sentences(tokenizer):
    """Return tokens of as many made sentences, as long and with as many identifiers as Stormfront's."""
    rng = stream(SEED, "sentences")
    words = np.flatnonzero(~tokenizer.is_special)
    words = rng.permutation(words)[: len(words) // 3]
    lengths = np.clip(rng.lognormal(np.log(MEAN_LENGTH) - 0.25, 0.7, N_TRAIN).astype(int), 4, TRAINED_LENGTH)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = words[(len(words) * rng.random(offsets[-1]) ** 3).astype(int)]  # some words are frequent
    identifiers = words[-10:]
    chosen = rng.random(len(ids)) < PER_SENTENCE / MEAN_LENGTH
    ids[chosen] = rng.choice(identifiers, size=chosen.sum())
    ids[offsets[:-1]], ids[offsets[1:] - 1] = tokenizer.cls, tokenizer.sep
    tokens = Tokens(ids.astype(np.int32), offsets, np.zeros(len(ids), np.int32))
    return tokens, {tokenizer.vocabulary[i]: int(i) for i in identifiers}


def load_sentences(tokenizer, is_real):
    """Return Stormfront's sentences for a real vocabulary where they are to be had, or made ones."""
    if is_real:
        try:
            return *load_stormfront(tokenizer), "Stormfront"
        except InputError as error:
            print(f"{error}\n(or name a mirror folder in BIASLAB_MIRROR; here made sentences are taken)")
    return *make_sentences(tokenizer), "made"


def load_encoder(arguments):
    """Return a function that makes a classifier, its tokenizer and its name."""
    if arguments.encoder is None:
        words = [f"word{i}" for i in range(30_522 - len(SPECIAL))]
        config = BertConfig(
            vocab_size=30_522,
            hidden_size=384,
            num_hidden_layers=arguments.layers,
            num_attention_heads=12,
            intermediate_size=1536,
            attn_implementation="sdpa",
        )
        name = f"random encoder of {arguments.layers} layers"
        return lambda: BertForSequenceClassification(config), Tokenizer([*SPECIAL, *words]), name
    folder = Path(tempfile.mkdtemp())
    prepare_encoder(EncoderFiles.of_folder(arguments.encoder), folder, arguments.layers)
    name = f"{arguments.encoder.name}, {arguments.layers} layers"
    return lambda: load_classifier(folder, seed=SEED), Tokenizer.load(folder / "vocab.txt"), name


class LoopObjective:
    """The regularized loss as the published code has it: sentences padded, one occurrence at a time.

    Contexts are sampled for each occurrence, which is passed twice, with and without the word, and
    differentiated. Sentences are padded to 128 tokens, or, trimmed, to the longest of a batch.
    """

    def __init__(self, model, batches, labels, tokenizer, regularization, language_model, trims):
        self.model, self.batches, self.labels, self.tokenizer = model, batches, labels, tokenizer
        self.regularization, self.language_model = regularization, language_model
        self.trims = trims
        self.identifiers = set(regularization.identifier_ids.values()) if regularization else set()

    def backward(self, step):
        """Add the gradient of a step's batch."""
        torch.manual_seed(step_seed(SEED, "dropout", step))
        self.model.train()
        rows = self.batches.rows(step)
        ids, mask = map(torch.from_numpy, self.batches.tokens.padded(rows, self.tokenizer.pad))
        if not self.trims:
            beyond = (0, TRAINED_LENGTH - ids.shape[1])
            ids, mask = (torch.nn.functional.pad(a, beyond) for a in (ids, mask))
        logits = self.model(input_ids=ids, attention_mask=mask).logits
        labels = torch.from_numpy(self.labels[rows])
        torch.nn.functional.cross_entropy(logits, labels, weight=torch.tensor([0.125, 1.0])).backward()
        self.model.eval()
        found, random = find_occurrences(ids.numpy(), self.identifiers), generator(SEED, "contexts", step)
        for i in range(len(found)):
            self.explain(ids, mask, found.part(slice(i, i + 1)), random, len(rows))

    def explain(self, ids, mask, occurrence, random, n_sentences):
        """Add the gradient of one occurrence's term."""
        ids, mask = ids[occurrence.row], mask[occurrence.row]
        occurrence = Occurrences(np.zeros(1, np.int64), occurrence.start, occurrence.end)
        settings = self.regularization.contexts
        filled = fill_contexts(ids, mask, occurrence, settings, self.language_model, self.tokenizer, random)
        phi = importance(self.score_apart, ids, mask, occurrence, filled, self.tokenizer.pad, share=False)
        (self.regularization.method.alpha * regularizer(phi, n_sentences)).backward()

    def score_apart(self, ids, mask):
        """Score the sentences with the word and those without it in passes of their own."""
        halves = zip(ids.chunk(2), mask.chunk(2), strict=True)
        logits = torch.cat([self.model(*half) for half in halves])
        return logits[:, 1] - logits[:, 0]


def make_runs(make_model, tokenizer, tokens, identifiers, trims):
    """Return an objective and an optimizer for each way of training."""
    language_model = BiGRU(
        known_tokens(tokens, tokenizer), len(tokenizer.vocabulary), tokenizer.unk, 300, 300
    ).initialize(SEED)
    labels = (stream(SEED, "labels").random(len(tokens)) < 0.13).astype(np.int64)
    batches = Batches(tokens, BATCH, SEED)
    used = np.union1d(tokens.ids, [tokenizer.pad]).astype(np.int64)
    runs, contexts = {}, []
    for name in ("vanilla", "oc-0.1", "soc-0.1"):
        method = parse_method(name)
        regularization = Regularization(method, identifiers, language_model=language_model)
        for way in ("packed", "loop"):
            model = make_model()
            contexts.append(compact_embeddings(model, used))
            contexts[-1].__enter__()
            if way == "packed":
                objective = Objective(model, batches, labels, tokenizer, regularization, 0.125, SEED)
            else:
                explained = regularization if method.explains else None
                objective = LoopObjective(model, batches, labels, tokenizer, explained, language_model, trims)
            runs[name, way] = objective, bert_adam(model.named_parameters())
    return runs, contexts


def measure(runs, steps):
    """Return processor seconds of every step of each run, the runs taking turns."""
    clock = {key: [] for key in runs}
    for step in [steps, *range(steps)]:  # the first one warms up
        for key, (objective, optimizer) in runs.items():
            start = time.process_time()
            objective.backward(step)
            optimizer.step(1e-5)
            clock[key].append(time.process_time() - start)
    return {key: float(np.mean(took[1:])) for key, took in clock.items()}


def report(took):
    """Print seconds of each way of training and the ratios that are goals."""
    vanilla, padded = took["vanilla", "packed"], took["vanilla", "loop"]
    print(
        f"  {'vanilla':10}{vanilla:8.3f} s{'':26}padded{padded:8.3f} s"
        f"{'':14}padded / packed{padded / vanilla:6.2f}"
    )
    for name, goal in GOALS.items():
        seconds, loop = took[name, "packed"], took[name, "loop"]
        print(
            f"  {name:10}{seconds:8.3f} s{seconds / vanilla:6.2f} x (goal: <= {goal})    "
            f"loop  {loop:8.3f} s{loop / padded:6.2f} x    loop / batched {loop / seconds:6.2f}"
            f" (goal: >= {FASTER_THAN_LOOP})"
        )
    print("  x: times vanilla in the same column")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", type=Path, help="folder of an encoder; a random one by default")
    parser.add_argument("--layers", type=int, default=6, help="how many of its layers")
    parser.add_argument("--steps", type=int, default=STEPS, help="a multiple of the steps explained at once")
    parser.add_argument("--trim", action="store_true", help="let the loop pad to the longest of a batch only")
    arguments = parser.parse_args()
    make_deterministic(1)
    make_model, tokenizer, name = load_encoder(arguments)
    tokens, identifiers, source = load_sentences(tokenizer, arguments.encoder is not None)
    found = np.isin(tokens.ids, list(identifiers.values())).sum() / len(tokens) * BATCH
    print(
        f"seconds of a step of training: {name}, {BATCH} sentences ({source}; {tokens.lengths.mean():.0f}"
        f" tokens each, {found:.1f} identifiers a step), one thread, processor time:"
    )
    runs, contexts = make_runs(make_model, tokenizer, tokens, identifiers, arguments.trim)
    report(measure(runs, arguments.steps))
    for context in contexts:
        context.__exit__(None, None, None)


if __name__ == "__main__":
    main()
