"""Implement BERT's published Adam and AdamW, with their learning rate schedule.

Gradients are clipped, weight decay is decoupled, and the state consists of plain tensors. The learning rate
rises and falls over a budget of steps, and is halved after validations without improvement.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch.optim import adamw as functional

DECAY = 0.01  # decoupled weight decay of all parameters except biases and layer norms
CLIP = 1.0  # maximum norm of a gradient
WARM_UP = 0.1  # share of the budget over which the learning rate rises from zero
_BETAS = (0.9, 0.999)
_CONVERGED = 2.0**20
"""A number of steps n after which Adam's bias corrections, 1 - 0.999^n, are exactly 1 in float64."""


def warmup_linear(step: int, budget: int) -> float:
    """Return the factor of the learning rate: up to 1 over `WARM_UP` of the budget, then down to 0.

    Steps count from 0, as published, so that the first step has a rate of zero.
    """
    progress = step / budget
    if progress < WARM_UP:
        return progress / WARM_UP
    return max((1 - progress) / (1 - WARM_UP), 0.0)


@dataclass(frozen=True)
class Patience:
    """The state of the validations: the best F1, and the number of halvings."""

    best: float = -1.0  # as published: the first F1 is always the best so far, even if it is 0
    halvings: int = 0

    @property
    def factor(self) -> float:
        """The factor of the learning rate after the halvings."""
        return 0.5**self.halvings

    def after(self, f1: float, halves: bool = True) -> "Patience":
        """Return the state after a validation: a new best F1, or one more halving if `halves`."""
        if f1 > self.best:
            return replace(self, best=f1)
        return replace(self, halvings=self.halvings + halves)


class Optimizer:
    """Adam with decoupled weight decay, in one fused pass; gradients are clipped by tensor or jointly."""

    def __init__(
        self,
        named_parameters: Iterable[tuple[str, torch.nn.Parameter]],
        *,
        per_tensor: bool,
        bias_correction: bool,
        epsilon: float,
    ) -> None:
        self._parameters = {name: p for name, p in named_parameters if p.requires_grad}
        self._per_tensor, self._epsilon = per_tensor, epsilon
        undecayed = [name for name in self._parameters if "bias" in name or "LayerNorm" in name]
        decayed = [name for name in self._parameters if name not in undecayed]
        self._groups = [(DECAY, decayed), (0.0, undecayed)]
        # After `_CONVERGED` steps the bias corrections are 1, and the fused kernel equals BERT's Adam.
        start = 0.0 if bias_correction else _CONVERGED
        self._state = {
            name: {
                "step": torch.tensor(start, dtype=torch.float32, device=p.device),
                "exp_avg": torch.zeros_like(p, requires_grad=False),
                "exp_avg_sq": torch.zeros_like(p, requires_grad=False),
            }
            for name, p in self._parameters.items()
        }

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Take one step against the gradients; clip them in place, then discard them.

        The step uses the function of `torch.optim.AdamW`, because the class would load a compiler (1 s).
        """
        clip([p.grad for p in self._parameters.values() if p.grad is not None], self._per_tensor)
        for decay, all_names in self._groups:
            names = [name for name in all_names if self._parameters[name].grad is not None]
            parameters = [self._parameters[name] for name in names]
            means, squares, steps = (
                [self._state[name][key] for name in names] for key in ("exp_avg", "exp_avg_sq", "step")
            )
            functional.adamw(
                parameters,
                [p.grad for p in parameters],
                means,
                squares,
                [],
                steps,
                fused=True,
                amsgrad=False,
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                lr=learning_rate,
                weight_decay=decay,
                eps=self._epsilon,
                maximize=False,
            )
        for p in self._parameters.values():
            p.grad = None

    def state(self) -> dict[str, torch.Tensor]:
        """Return the means and step counts by name; the tensors share memory with the optimizer."""
        return {
            f"{key}.{name}": tensor
            for name, tensors in self._state.items()
            for key, tensor in tensors.items()
        }

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Load a state of parameters with the same names and shapes."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


bert_adam = partial(Optimizer, per_tensor=True, bias_correction=False, epsilon=1e-6)
"""Return BertAdam, the optimizer published with BERT and used by Kennedy et al.

m := .9 m + .1 g, v := .999 v + .001 g², θ := θ − rate (m / (√v + 10⁻⁶) + decay θ), g clipped per tensor."""
adamw = partial(Optimizer, per_tensor=False, bias_correction=True, epsilon=1e-8)
"""Return AdamW (Loshchilov and Hutter 2019), the gradient of all parameters clipped together."""


def clip(gradients: list[torch.Tensor], per_tensor: bool) -> None:
    """Scale each gradient, or all gradients jointly, in place to a norm of at most `CLIP`.

    The factors are those of torch's ``clip_grad_norm_``; factors of 1 are skipped. Norms of rows are summed
    in float64, so that the result does not depend on the number of threads or on rows of zeros (see
    `bert.compact_embeddings`).
    """
    if not gradients:
        return
    rows = [torch.linalg.vector_norm(g.flatten(1) if g.ndim > 1 else g, dim=-1).double() for g in gradients]
    norms = torch.stack([torch.linalg.vector_norm(r) for r in rows]).tolist()
    if not per_tensor:
        norms = [sum(norm**2 for norm in norms) ** 0.5] * len(gradients)
    factors = [min(CLIP / (norm + 1e-6), 1.0) for norm in norms]
    scaled = [(g, f) for g, f in zip(gradients, factors, strict=True) if f < 1]
    if scaled:
        torch._foreach_mul_([g for g, _ in scaled], [f for _, f in scaled])
