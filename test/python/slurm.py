# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Slurm of one node, for tests: its own munged, slurmctld and slurmd, as the user who runs them.

The node has a GPU for Slurm's accounting (/dev/null stands in for the device) and is in two
partitions: `compilers`, and `gpus`, where jobs ask for it.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "squeue", "sinfo")

CONFIGURATION = """\
ClusterName=fact
MinJobAge=86400
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} Gres=gpu:1 State=UNKNOWN
PartitionName=compilers Nodes={host} Default=YES MaxTime=INFINITE State=UP
PartitionName=gpus Nodes={host} MaxTime=INFINITE State=UP
"""


def find(program: str) -> str | None:
    """Daemons are in /usr/sbin, which is not on every user's PATH."""
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing() -> list[str]:
    return [program for program in PROGRAMS if not find(program)]


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Slurm:
    """A cluster that ends with the `with` block; `environment` is what its clients need."""

    def __init__(self, folder: Path):
        # The path of a socket is at most 107 bytes long.
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.daemons: list[subprocess.Popen] = []

    def __enter__(self) -> "Slurm":
        host = socket.gethostname().partition(".")[0]
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, ports=free_ports(2), user=pwd.getpwuid(os.geteuid()).pw_name, folder=self.folder,
            processors=len(os.sched_getaffinity(0))))
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        try:
            self._start("munged", "--foreground", "--force", f"--key-file={key}",
                        *(f"--{name}-file={self.folder}/munge.{name}"
                          for name in ("pid", "log", "seed")),
                        f"--socket={self.folder}/munge.socket")
            self._await("munged", (self.folder / "munge.socket").exists)
            self._start("slurmctld", "-D")
            self._start("slurmd", "-D")
            self._await("slurmd", lambda: self.run("sinfo", "--noheader", "--Format=StateLong")
                        .split() == ["idle"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for daemon in reversed(self.daemons):
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(timeout=20)
            daemon.kill()
            daemon.wait()

    def _start(self, program: str, *arguments: str) -> None:
        path = find(program)
        assert path
        with open(self.folder / f"{program}.log", "w") as log:
            self.daemons.append(subprocess.Popen([path, *arguments], env=self.environment,
                                                 stdout=log, stderr=subprocess.STDOUT))

    def _await(self, program: str, is_ready) -> None:
        until = time.monotonic() + 60
        while not is_ready():
            ended = [each for each in self.daemons if each.poll() is not None]
            if ended or time.monotonic() > until:
                logs = "".join(f"{log.name}:\n{log.read_text()}" for log in self.folder.glob("*.log"))
                raise RuntimeError(f"{program} is not ready: {logs}")
            time.sleep(0.2)

    def run(self, *command: str) -> str:
        """The output of a client, or nothing where it fails."""
        process = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return process.stdout if process.returncode == 0 else ""

    def jobs(self) -> list[str]:
        """Jobs that wait, run or end."""
        return self.run("squeue", "--noheader", "--format=%i %P %T %j").splitlines()
