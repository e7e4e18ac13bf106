"""A Slurm of two nodes on this machine: Debian's packages, loopback only, its files in one folder."""

import os
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ["slurmctld", "slurmd", "slurm-client", "munge"]
CONFIG = Path("/etc/slurm/slurm.conf")
"""Where jobs look for the configuration: Snakemake's plugin drops the variable SLURM_CONF within a job."""

NODES = ("n1", "n2")
CPUS, MEMORY, MINUTES = 2, 8000, 60
"""What a node has, and how long a job may run in the partition ``main``."""

_DEADLINE = 30  # seconds
_MUNGE = Path("/run/munge")
_TEMPLATE = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
AuthType=auth/munge
CryptoType=crypto/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SrunPortRange=16900-16999
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
SlurmdLogFile={folder}/slurmd.%n.log
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.log
SchedulerParameters=batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
ReturnToService=2
MinJobAge=3600
KillWait=5
{nodes}
PartitionName=main Nodes=n1,n2 Default=YES MaxTime={minutes} DefaultTime=10 State=UP
PartitionName=short Nodes=n1 MaxTime=1 State=UP
"""
_NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory={memory}"


class UnavailableError(Exception):
    """Why no cluster can be had here."""


@dataclass(frozen=True)
class Job:
    """What Slurm notes of a job that has ended."""

    id: int
    name: str
    state: str
    partition: str
    minutes: int
    node: str
    cpus: int


class Cluster:
    """A Slurm with its state and logs in a folder, which is stopped again without touching any other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._munged: int | None = None

    def start(self) -> None:
        """Start all daemons, and return when both nodes take jobs."""
        self._configure()
        self._start_munge()
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self._wait(
            lambda: set(self.ask("sinfo", "-hN", "-o", "%t").split()) == {"idle"}, "nodes are not idle"
        )

    def stop(self) -> None:
        """End the jobs, then the daemons that were started here, then forget the configuration."""
        subprocess.run(["scancel", "--full", "--user", "root"], check=False, capture_output=True, timeout=20)
        with ThreadPoolExecutor() as pool:  # each takes two seconds
            for name in [f"slurmd.{node}" for node in NODES] + ["slurmctld"]:
                pool.submit(self.kill, name, signal.SIGTERM)
            if self._munged is not None:
                pool.submit(_end, self._munged, "munged", signal.SIGTERM)
        if CONFIG.is_symlink() and CONFIG.readlink() == self.folder / "slurm.conf":
            CONFIG.unlink()

    def start_controller(self) -> None:
        """Start slurmctld; it reads what a former one left."""
        subprocess.run(["slurmctld"], check=True, capture_output=True)
        self._wait(lambda: "is UP" in self.ask("scontrol", "ping"), "the controller does not answer")

    def start_node(self, node: str) -> None:
        subprocess.run(["slurmd", "-N", node], check=True, capture_output=True)

    def note(self) -> None:
        """Return when the controller has written down what runs now; killed before, it forgets it."""
        now = time.time()
        self._wait(lambda: (self.folder / "state/job_state").stat().st_mtime > now, "it notes nothing")

    def update(self, node: str, state: str) -> None:
        self.ask("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=test")

    def kill(self, daemon: str, signal_: signal.Signals = signal.SIGKILL) -> None:
        """End ``slurmctld`` or ``slurmd.NODE``."""
        file = self.folder / f"{daemon}.pid"
        if file.is_file():
            _end(int(file.read_text()), daemon.partition(".")[0], signal_)

    def ask(self, *command: str) -> str:
        """Return what a command of Slurm prints, its errors included."""
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def jobs(self) -> list[Job]:
        """Return the jobs that have ended, in the order of their ends."""
        log = self.folder / "jobs.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [_job(dict(part.split("=", 1) for part in line.split() if "=" in part)) for line in lines]

    def queue(self) -> list[int]:
        return [int(line) for line in self.ask("squeue", "-h", "-o", "%i").split()]

    def _configure(self) -> None:
        host = socket.gethostname()
        nodes = [
            _NODE.format(name=name, host=host, port=16821 + i, cpus=CPUS, memory=MEMORY)
            for i, name in enumerate(NODES)
        ]
        text = _TEMPLATE.format(host=host, folder=self.folder, nodes="\n".join(nodes), minutes=MINUTES)
        (self.folder / "slurm.conf").write_text(text)
        for name in ("state", *(f"spool.{node}" for node in NODES)):
            (self.folder / name).mkdir()
        CONFIG.parent.mkdir(exist_ok=True)
        CONFIG.symlink_to(self.folder / "slurm.conf")

    def _start_munge(self) -> None:
        if _answers():
            return  # somebody's: left alone now and later
        _MUNGE.mkdir(mode=0o755, exist_ok=True)
        shutil.chown(_MUNGE, "munge", "munge")
        drop = ["setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups"]
        subprocess.run([*drop, "/usr/sbin/munged"], check=True, capture_output=True)
        self._wait(_answers, "munge does not answer")
        self._munged = int((_MUNGE / "munged.pid").read_text())

    def _wait(self, is_so: object, otherwise: str) -> None:
        end = time.monotonic() + _DEADLINE
        while not is_so():
            if time.monotonic() > end:
                raise UnavailableError(f"{otherwise}; see {self.folder}")
            time.sleep(0.1)


def install() -> None:
    """Install Debian's packages where they are missing; raise `UnavailableError` where that cannot be."""
    if os.geteuid() != 0:
        raise UnavailableError("Slurm's daemons are started by root alone")
    if CONFIG.is_symlink() and not CONFIG.exists():
        CONFIG.unlink()  # of a test that was killed
    if CONFIG.is_symlink() or CONFIG.exists():
        raise UnavailableError(f"there is a Slurm already: {CONFIG}")
    if shutil.which("slurmctld") and shutil.which("slurmd") and shutil.which("munged"):
        return
    if not shutil.which("apt-get"):
        raise UnavailableError("Slurm is missing, and so is apt-get")
    apt = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
    for command in (["apt-get", "update", "-qq"], apt):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
        )
        if done.returncode:
            raise UnavailableError(f"{' '.join(command)}: {done.stderr.strip()[-200:]}")


def _answers() -> bool:
    return bool(shutil.which("munge")) and not subprocess.run(["munge", "-n"], capture_output=True).returncode


def _end(pid: int, name: str, signal_: signal.Signals) -> None:
    """End a process if it still is the one of that name, and wait until it is gone."""
    place = Path(f"/proc/{pid}/comm")
    end = time.monotonic() + _DEADLINE
    while place.exists() and place.read_text().strip() == name and time.monotonic() < end:
        os.kill(pid, signal_)
        time.sleep(0.1)


def _job(noted: dict[str, str]) -> Job:
    return Job(
        id=int(noted["JobId"]),
        name=noted["Name"],
        state=noted["JobState"],
        partition=noted["Partition"],
        minutes=int(noted["TimeLimit"]),
        node=noted["NodeList"],
        cpus=int(noted["ProcCnt"]),
    )
