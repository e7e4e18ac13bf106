"""The end of a run: nothing that Snakemake still waits for keeps it."""

import threading


def cancel_timers() -> None:
    """Cancel the timers by which Snakemake asks whether more jobs may start: it would wait for the last."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
