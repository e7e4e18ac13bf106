"""Documents with what they contribute to the bias: in the terminal and as pages."""
