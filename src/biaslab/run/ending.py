"""End a run without waiting for timers of Snakemake."""

import threading


def cancel_timers() -> None:
    """Cancel the timers of Snakemake's job rate limit, because the process would wait for the last timer."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
