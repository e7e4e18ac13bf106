"""The end of a run: nothing that Snakemake still waits for keeps it."""

import threading


def cancel_timers() -> None:
    """Cancel the timers by which Snakemake asks whether further jobs may start.

    Each job leaves one behind, which asks once a timespan (``--max-jobs-per-timespan``), and the process
    would wait for the last of them when all is made.
    """
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
