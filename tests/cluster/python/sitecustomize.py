"""What the tests change in the Python of a run: Python runs this at its start, where it is on PYTHONPATH.

``LONGEST_SLEEP=1`` lets Snakemake's plugin look after its jobs every second. By itself it looks 10 seconds
less often whenever none has ended, and is late by as much as the short jobs of the tests take.

``NODE_CLOCK="n1 -7200"`` puts the clock of n1 two hours back: what asks the time gets that clock, and a file
that is touched is dated by it, as on a file system that has the nodes date files (Lustre). The kernel has
one clock for all nodes of a machine, and libfaketime 0.9.10 stops Python 3.11: it does not know
sem_clockwait, with which locks wait, and breaks the clock_nanosleep of time.sleep.
"""

import os
import time

longest = float(os.environ.get("LONGEST_SLEEP", "inf"))
if longest < float("inf"):
    import asyncio

    sleep = asyncio.sleep
    asyncio.sleep = lambda delay, *rest: sleep(min(delay, longest), *rest)

node, _, seconds = os.environ.get("NODE_CLOCK", "").partition(" ")
if node and node == os.environ.get("SLURMD_NODENAME"):
    shift, now, utime = float(seconds), time.time, os.utime

    def shifted_utime(path, times=None, **options):
        """Date a file as `os.utime` does, now by the shifted clock."""
        if times is None and "ns" not in options:
            times = (time.time(), time.time())
        utime(path, times, **options)

    time.time = lambda: now() + shift
    time.time_ns = lambda: int(time.time() * 1e9)
    os.utime = shifted_utime
    os.supports_follow_symlinks.add(shifted_utime)
