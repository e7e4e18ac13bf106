"""Any classifier of sequences that transformers knows, in a folder: safetensors alone, and no code of it.

Where a classifier has more labels than two its score is that of the positive one against all others; where
its labels exclude nothing (multi_label_classification), or there is one, the logit of the positive one.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from biaslab.classifiers.foreign import reason
from biaslab.core.errors import InputError
from biaslab.text.devices import choose_device
from biaslab.text.encoder import batches_by_length
from biaslab.text.label_names import MULTI_LABEL, say_more

BATCH_TOKENS = 4096
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_NO_LIMIT = 10**6
"""Above it a tokenizer says that it knows no greatest length."""


def load_pretrained(folder: Path, device: str, positive: str | None) -> "PretrainedClassifier":
    """Read a folder as transformers saves it; weights that it lacks are an error, not drawn."""
    _check_files(folder)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    how = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **how)
        model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **how
        )
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{folder}: transformers cannot read it as a classifier of sequences ({reason(error)}); save it"
            " there again with save_pretrained, with its tokenizer"
        ) from error
    if lacking := sorted([*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])]):
        raise InputError(f"{folder}: its weights lack {lacking[0]}, as config.json has it; train it first")
    if len(tokenizer) > model.config.get_text_config().vocab_size:
        raise InputError(
            f"{folder}: the tokenizer has {len(tokenizer)} tokens, the model"
            f" {model.config.get_text_config().vocab_size}; take both from one classifier"
        )
    column = _positive(folder, model.config, positive)
    return PretrainedClassifier(model.eval().to(choose_device(device)), tokenizer, column, str(folder))


@dataclass(frozen=True)
class PretrainedClassifier:
    """A classifier of sequences and its tokenizer; a `TextClassifier`."""

    model: "torch.nn.Module"
    tokenizer: Any
    column: int  # of the positive label
    name: str

    @property
    def max_length(self) -> int:
        """Tokens of a text that are read."""
        config = self.model.config.get_text_config()
        places = getattr(config, "max_position_embeddings", None) or _NO_LIMIT
        known = self.tokenizer.model_max_length
        return known if known < min(_NO_LIMIT, places) else min(places - 2, 512)  # some number from 2 on

    def scores(
        self, texts: Sequence[str], progress: Callable[[int, int], None] = lambda done, n: None
    ) -> np.ndarray:
        """Return the logit of the positive class; see `TextClassifier`."""
        out, done = np.empty(len(texts)), 0
        lengths = np.array([len(text) for text in texts]) // 3 + 3  # about, in tokens
        known = inspect.signature(self.model.forward).parameters
        budget = BATCH_TOKENS if self.tokenizer.pad_token is not None else 1
        with torch.no_grad():
            for rows in batches_by_length(np.minimum(lengths, self.max_length), budget):
                some = [texts[row] or " " for row in rows]
                read = self.tokenizer(
                    some,
                    truncation=True,
                    max_length=self.max_length,
                    padding=len(some) > 1,
                    return_tensors="pt",
                )
                read = {key: value.to(self.model.device) for key, value in read.items() if key in known}
                out[rows] = self._scores(self.model(**read).logits.double().cpu())
                done += len(rows)
                progress(done, len(texts))
        return out

    def _scores(self, logits: torch.Tensor) -> np.ndarray:
        if not torch.isfinite(logits).all():
            raise InputError(f"{self.name}: answers with numbers that are not finite; train it again")
        own = logits[:, self.column]
        if logits.shape[1] > 1 and self.model.config.problem_type != MULTI_LABEL:
            others = [column for column in range(logits.shape[1]) if column != self.column]
            own = own - logits[:, others].logsumexp(1)
        return own.numpy()


def _check_files(folder: Path) -> None:
    if not next(folder.glob("*.safetensors"), None):
        pickled = next((path.name for path in sorted(folder.glob("*.bin"))), None)
        why = f"{pickled} is pickled, and never read; save it as safetensors" if pickled else "name another"
        raise InputError(f"{folder}: has no weights in model.safetensors; {why}")
    if not any(next(folder.glob(name), None) for name in _TOKENIZERS):
        raise InputError(f"{folder}: has no tokenizer; save it beside the model with save_pretrained")


def _positive(folder: Path, config: "transformers.PretrainedConfig", positive: str | None) -> int:
    names = {str(name): int(number) for number, name in config.id2label.items()}
    if positive in names:
        return names[positive]
    if len(names) <= 2 and not say_more(names):
        return len(names) - 1
    raise InputError(
        f"{folder}: calls its labels {', '.join(names)}; name the positive one with --positive, as the"
        " classifier and the texts call it"
    )
