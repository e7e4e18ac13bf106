"""Load any sequence classifier of transformers from a folder: only safetensors, without running its code.

With more than two labels, the score compares the positive label with all other labels. With one label, or
labels that do not exclude each other (multi_label_classification), the score is the positive label's logit.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from biaslab.classifiers.foreign import reason
from biaslab.core.errors import InputError
from biaslab.text.devices import choose_device
from biaslab.text.encoder import batches_by_length
from biaslab.text.reading import MULTI_LABEL, NO_LIMIT, Lengths, count_in_batches, describe_positive, say_more

BATCH_TOKENS = 4096
REGRESSION = "regression"  # name in a configuration of a head with one number that is not a logit
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_UNLIMITED = 512  # tokens read of a text if neither the tokenizer nor the model declares a maximum length


def load_pretrained(
    folder: Path, device: str, positive: str | None, option: str = "--positive"
) -> "PretrainedClassifier":
    """Read a folder in the layout of transformers; missing weights are an error and are not drawn."""
    if not next(folder.glob("*.safetensors"), None):
        pickled = next((path.name for path in sorted(folder.glob("*.bin"))), None)
        why = (
            f"{pickled} is pickled, and pickled files are not read; save it as safetensors"
            if pickled
            else "name another"
        )
        raise InputError(f"{folder}: has no weights in model.safetensors; {why}")
    if not any(next(folder.glob(name), None) for name in _TOKENIZERS):
        raise InputError(f"{folder}: has no tokenizer; save it next to the model with save_pretrained")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
        )
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{folder}: transformers cannot read it as a classifier of sequences ({reason(error)}); save it"
            " there again with save_pretrained, with its tokenizer"
        ) from error
    if missing := sorted([*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])]):
        raise InputError(
            f"{folder}: its weights lack {missing[0]}, which config.json declares; train it first"
        )
    if len(tokenizer) > model.config.get_text_config().vocab_size:
        raise InputError(
            f"{folder}: the tokenizer has {len(tokenizer)} tokens, the model"
            f" {model.config.get_text_config().vocab_size}; take both from one classifier"
        )
    names = [str(name) for _, name in sorted(model.config.id2label.items())]
    column = _positive(folder, model.config, names, positive, option)
    return PretrainedClassifier(model.eval().to(choose_device(device)), tokenizer, names, column, str(folder))


@dataclass(frozen=True)
class PretrainedClassifier:
    """A classifier of sequences and its tokenizer; a `TextClassifier`."""

    model: "torch.nn.Module"
    tokenizer: Any
    class_names: Sequence[str]
    column: int  # of the positive label
    name: str

    @cached_property
    def max_length(self) -> int:
        """Number of tokens read of a text: the smaller limit of the tokenizer and the model."""
        config, limit = self.model.config.get_text_config(), self.tokenizer.model_max_length
        places = getattr(config, "max_position_embeddings", None) or NO_LIMIT
        for name, module in self.model.named_modules():
            # RoBERTa-like models count positions after the padding index
            if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
                places = module.num_embeddings - module.padding_idx - 1
                break
        limit = min(limit, places)
        return int(limit) if limit < NO_LIMIT else _UNLIMITED

    @property
    def reading(self) -> str:
        """See `TextClassifier`."""
        names = self.class_names
        head = f"by softmax over {len(names)} labels"
        if len(names) > 2:
            head += ", against all others"
        if self.model.config.problem_type == MULTI_LABEL:
            head = f"by a logistic function of its own ({len(names)} labels that do not exclude each other)"
        elif len(names) == 1:
            head = "by the logistic function of one logit"
        normalizer = getattr(getattr(self.tokenizer, "backend_tokenizer", None), "normalizer", None)
        if normalizer is not None:
            is_lower = normalizer.normalize_str("A").strip("\u2581 ") == "a"
        else:
            is_lower = getattr(self.tokenizer, "do_lower_case", False) and not self.tokenizer.is_fast
        casing = "in lower case" if is_lower else "with the case of their letters"
        return (
            f"{describe_positive(names, self.column)}, {head}; reads {self.max_length:,} tokens of a text at"
            f" most, {casing}."
        )

    def lengths(self, texts: Sequence[str]) -> Lengths:
        """See `TextClassifier`."""
        counts = count_in_batches(
            lambda batch: [len(ids) for ids in self.tokenizer(batch, verbose=False)["input_ids"]], texts
        )
        return Lengths(counts, self.max_length, "tokens")

    def scores(
        self, texts: Sequence[str], progress: Callable[[int, int], None] = lambda done, n: None
    ) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`."""
        out, done = np.empty(len(texts)), 0
        lengths = np.array([len(text) for text in texts]) // 3 + 3  # approximate number of tokens
        names = inspect.signature(self.model.forward).parameters
        budget = BATCH_TOKENS if self.tokenizer.pad_token is not None else 1
        with torch.no_grad():
            for rows in batches_by_length(np.minimum(lengths, self.max_length), budget):
                batch = [texts[row] or " " for row in rows]
                inputs = self.tokenizer(
                    batch,
                    truncation=True,
                    max_length=self.max_length,
                    padding=len(batch) > 1,
                    return_tensors="pt",
                )
                inputs = {key: value.to(self.model.device) for key, value in inputs.items() if key in names}
                logits = self.model(**inputs).logits.double().cpu()
                if not torch.isfinite(logits).all():
                    raise InputError(f"{self.name}: returned numbers that are not finite; retrain it")
                own = logits[:, self.column]
                if logits.shape[1] > 1 and self.model.config.problem_type != MULTI_LABEL:
                    others = [column for column in range(logits.shape[1]) if column != self.column]
                    own = own - logits[:, others].logsumexp(1)
                out[rows] = own.numpy()
                done += len(rows)
                progress(done, len(texts))
        return out


def _positive(
    folder: Path,
    config: "transformers.PretrainedConfig",
    names: Sequence[str],
    positive: str | None,
    option: str,
) -> int:
    if config.problem_type == REGRESSION:
        raise InputError(
            f"{folder}: its head is a regression (problem_type), and no file states the threshold of positive"
            " texts; write a function that returns probabilities, and name it as MODULE:NAME"
        )
    if positive in names:
        return names.index(positive)
    if len(names) <= 2 and not say_more(names):
        return len(names) - 1
    raise InputError(
        f"{folder}: its labels are {', '.join(names)}; name the positive one with"
        f" {'--positive' if positive is None else option}"
    )
