"""Table and figures of the comparison."""
