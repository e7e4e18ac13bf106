"""The compiled kernel of Adam (Kingma and Ba 2015), for all training loops without a library."""

import numpy as np

from biaslab.core.jit import reassociating_kernel


@reassociating_kernel
def adam_step(parameters, gradients, means, squares, rate, beta1, beta2, epsilon):
    """Move parameters by one step of Adam, in place; all four arrays are (p,) float32.

    `rate` is the learning rate, with the bias corrections of both moments.
    """
    for i in range(parameters.size):
        g = gradients[i]
        means[i] = beta1 * means[i] + (np.float32(1.0) - beta1) * g
        squares[i] = beta2 * squares[i] + (np.float32(1.0) - beta2) * g * g
        parameters[i] -= rate * means[i] / (np.sqrt(squares[i]) + epsilon)
