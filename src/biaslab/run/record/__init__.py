"""Record a run: digests, software, times, resources, and which results were taken from another run."""
