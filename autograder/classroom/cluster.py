"""Grade submissions on the workers of a dask.distributed cluster.

dask pickles the unit, the submission and the outcome, and sends them between trusted
machines. A worker runs the student's code in a sandboxed child process, exactly as a
single machine does. Only this machine writes the gradebook and files. Anyone who can
connect to a dask scheduler can run code on its workers, so use a trusted network, or
`tls://` with dask's certificates.
"""

import contextlib
import queue
import stat
import time
from dataclasses import replace

try:
    from distributed import Client, Future
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "grading on a cluster needs the package distributed: "
        'pip install -c constraints.txt -e ".[course,cluster]"',
        name=error.name,
    ) from None

from autograder.classroom.cluster_worker import (
    Parcel,
    UnitPlugin,
    difference,
    facts,
    open_parcel,
)
from autograder.grading.outcome import MAX_REASON, Outcome
from autograder.grading.submission import grade_submission
from autograder.repair.finding import other_notebooks
from autograder.repair.reading import MAX_BYTES
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission

CONNECT_SECONDS = 20
PATIENCE = 60  # seconds without any worker until a run stops
POLL = 1.0
AHEAD = 2  # submissions sent to each worker, so that none waits for the network
# distributed raises these if the scheduler is lost; a closed pool raises RuntimeError.
GONE = (OSError, TimeoutError, CommClosedError, RuntimeError)
LOST = "every worker that graded it was lost"


class ClusterError(Exception):
    """Report that the cluster cannot be used or has been lost."""


class Cluster:
    """Send submissions to a cluster's workers; each has its own pre-warmed parent.

    If a worker is lost, the scheduler sends its submissions to another one.
    """

    def __init__(self, unit: GradedUnit, limits: Limits, address: str):
        """Connect to the scheduler at `address`, and send the unit to its workers.

        Raises:
            ClusterError: if there is no scheduler or no worker, or if a worker has
                other versions.
        """
        self.unit, self.limits, self.address = unit, limits, address
        self._facts = our_facts()
        self._futures: dict[Future, Submission] = {}
        self._ended: list[Outcome] = []
        self._news: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._counted, self._number = 0.0, 0
        self.client = self._connected()
        try:
            self._require_equals()
            self._plugin = UnitPlugin(unit)
            self.client.register_plugin(self._plugin, name=self._plugin.name)
        except (OSError, TimeoutError) as error:
            self.client.close()
            raise self._gone() from error
        except BaseException:
            self.client.close()
            raise

    def has_room(self) -> bool:
        """Return whether a worker could start another submission soon."""
        return len(self._futures) < AHEAD * max(1, self._workers())

    def is_busy(self) -> bool:
        """Return whether there are outcomes that have not been returned yet."""
        return bool(self._futures or self._ended)

    def give(self, submission: Submission) -> None:
        """Send a submission to the cluster, or refuse it here if it cannot be sent."""
        content = _content(submission)
        if content is None:
            refused = grade_submission(self.unit, submission, self.limits)
            self._ended.append(refused)
            return
        parcel = Parcel(
            self._plugin.key,
            submission.student,
            submission.path.name,
            content,
            self.limits,
            self._facts,
            _others(submission),
        )
        future = self.client.submit(open_parcel, parcel, pure=False)
        self._futures[future] = submission
        future.add_done_callback(self._news.put)

    def outcomes(self) -> list[Outcome]:
        """Wait for at least one outcome, and return all outcomes that are ready.

        Raises:
            ClusterError: if the scheduler or all workers are lost.
        """
        seen = time.monotonic()
        while not self._ended:
            with contextlib.suppress(queue.Empty):
                self._news.get(timeout=POLL)
            self._collect()
            if self.client.status != "running":
                raise self._gone()
            if self._workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE:
                raise ClusterError(f"no worker is left at {self.address}")
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Disconnect from the cluster, and cancel the unfinished submissions."""
        with contextlib.suppress(Exception):
            self.client.cancel(list(self._futures), force=True)
            self.client.unregister_worker_plugin(self._plugin.name)
        self._futures.clear()
        self.client.close()

    def _connected(self) -> Client:
        try:
            client = Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, CommClosedError, ValueError) as error:
            words = f"no scheduler answers at {self.address}: {error}"
            raise ClusterError(words[:MAX_REASON]) from None
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            client.close()
            raise ClusterError(
                f"no worker is connected to {self.address}: start some with "
                f"`dask worker {self.address} --nthreads 1`"
            ) from None
        return client

    def _require_equals(self) -> None:
        """Raise ClusterError unless every worker has this machine's versions."""
        ours = self._facts
        for worker, found in self.client.run(facts, on_error="return").items():
            if isinstance(found, ModuleNotFoundError):
                raise ClusterError(
                    f"worker {worker} cannot import {found.name}: "
                    "install the course there too"
                )
            if isinstance(found, BaseException):
                raise ClusterError(f"worker {worker}: {found}")
            if found != ours:
                raise ClusterError(f"worker {worker} {difference(found, ours)}")

    def _gone(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} is gone")

    def _workers(self) -> int:
        """Return the number of workers, updated at most once per second."""
        now = time.monotonic()
        if now - self._counted > POLL:
            with contextlib.suppress(*GONE):
                self._number = len(self.client.nthreads())
            self._counted = now
        return self._number

    def _collect(self) -> None:
        for future in [future for future in self._futures if future.done()]:
            submission = self._futures.pop(future)
            self._ended.append(self._outcome(future, submission))

    def _outcome(self, future: Future, submission: Submission) -> Outcome:
        try:
            return replace(future.result(), submission=submission)
        except KilledWorker:
            return Outcome(submission, "failed", LOST)
        except (FutureCancelledError, CommClosedError) as error:
            raise self._gone() from error
        except Exception as error:  # one submission must not stop the class
            words = f"{type(error).__name__}: {error}"[:MAX_REASON]
            return Outcome(submission, "failed", words)


def our_facts() -> dict[str, str]:
    """Return the versions that every worker must have."""
    return facts()


def _others(submission: Submission) -> tuple[tuple[str, bytes], ...]:
    """Return the notebooks in the submission's folder, the most recent first."""
    paths = other_notebooks(submission.path)
    contents = [(path.name, _content(replace(submission, path=path))) for path in paths]
    return tuple((name, found) for name, found in contents if found is not None)


def _content(submission: Submission) -> bytes | None:
    """Return a submitted file's bytes, or None if it must be refused unread."""
    path = submission.path
    if submission.is_in_linked_folder:
        return None
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        return path.read_bytes()
    except OSError:
        return None
