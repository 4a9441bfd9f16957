"""The connection of the command to a Dask cluster: the one place that knows the client of `distributed`."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
import warnings
from collections.abc import Awaitable, Callable
from concurrent.futures import Future as Called
from concurrent.futures import wait
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from runner.errors import ConfigurationError, RunnerError
from runner.options.values import ClusterAddress
from scripttest import install_command
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cluster.local_cluster import LocalCluster


try:
    from distributed import Client, Future, Security
    from distributed.comm.core import CommClosedError

except ImportError as error:
    raise ConfigurationError(
        f"--cluster requires the package distributed: {error}",
        f"Install it with: {install_command('dask', str(error.name))}",
    ) from error


REACHING = 5.0
"""Seconds in which a scheduler has to answer."""
CLOSING = 0.5
"""Seconds that workers get to hear the last messages, and then a scheduler to take leave."""
ASKING = 30.0
"""Seconds in which workers have to answer."""
LOOK = 0.2
"""Seconds between looks whether what runs is still wanted."""
SPREADING = 500_000
"""Bytes of data that have to arrive in each second more."""
_WORKERS = {"add-worker": "come", "remove-worker": "gone"}


class DaskWorker(Value):
    """A Dask worker."""

    address: str
    id: str
    """No other worker has it, also not one that comes in its place."""
    threads: int
    """How many units it runs at a time."""


class _Client(Client):
    """A client whose loop may have ended before it is forgotten."""

    def __del__(self) -> None:
        """Leaves nothing to close."""


class Connection:
    """A connection to a scheduler. To be closed.

    What happens comes through `inbox`: `("events", message)`, `("come", address)`, `("gone", address)` of a worker,
    `("ended", attempt)`, and `("untold", attempt)` where its worker could not be told something."""

    def __init__(self, address: ClusterAddress, local: LocalCluster | None = None) -> None:
        """Connects; blocks. Raises RunnerError. `local`: scheduler and workers of this run, which may still start."""
        _silence()
        self.inbox: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self.address = address
        self._messages: set[Called[None]] = set()
        """Those to workers that have not been taken yet."""
        self._is_closing = False
        url, security = address.url, None
        if local is None:
            _check_reachable(address)
        else:
            url, tls = local.started()
            security = Security(require_encryption=True, **tls)
        self._thread = LoopThread()
        try:
            self._client: Any = self._thread.start(lambda: _connected(url, security)).result(2 * REACHING)
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            self._thread.end()
            raise _refusal(address, error) from error
        if local is not None:
            local.wait_for_workers()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of the connection, on a thread of its own, until it is closed."""
        return self._thread.loop

    @property
    def is_lost(self) -> bool:
        """Whether the scheduler has ended."""
        return bool(self._client.status != "running")

    def workers(self) -> dict[str, int]:
        """How many units each worker runs at a time, by its address; blocks. Raises RunnerError."""
        return {address: threads or 1 for address, threads in self._asked(self._client.nthreads).items()}

    def ask(self, function: Callable[..., Any], *arguments: Any, workers: list[str]) -> dict[str, Any]:
        """Calls a function on workers, at once and beside their units; blocks. Address → what it answers, or the error
        that it raised there; workers that are lost meanwhile are not in it. Raises RunnerError when the scheduler does
        not answer."""
        answers = self._asked(lambda: self._client.run(function, *arguments, workers=workers, on_error="return"))
        return {place: one for place, one in answers.items() if not isinstance(one, CommClosedError)}

    def let_know(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a function on all workers without waiting for answers; from any thread."""

        async def call() -> None:
            await self._client.run(function, *arguments, on_error="ignore")

        self._send(call)

    def tell(self, function: Callable[..., Any], *arguments: Any, attempt: str, worker: str) -> None:
        """Calls a function on the worker of an attempt, without waiting; the inbox hears when it could not be called.
        From any thread."""

        async def call() -> None:
            try:
                await self._client.run(function, *arguments, workers=[worker])
            except Exception:
                self.inbox.put(("untold", attempt))

        self._send(call)

    def spread(
        self, function: Callable[..., Any], data: bytes, *arguments: Any, workers: list[str]
    ) -> dict[str, BaseException]:
        """Calls a function with data on workers, to which the data goes from worker to worker; blocks. Address → the
        error that it raised there. Raises RunnerError when the scheduler does not answer."""

        async def call() -> list[Any]:
            shared = await self._client.scatter(data, workers=workers, hash=False)
            futures = [
                self._client.submit(function, shared, *arguments, workers=[worker], pure=False, retries=0)
                for worker in workers
            ]
            return await asyncio.gather(
                *(asyncio.wait_for(one.result(), seconds) for one in futures), return_exceptions=True
            )

        seconds = ASKING + len(data) / SPREADING
        answers = self._asked(call, seconds + ASKING)
        return {place: one for place, one in zip(workers, answers, strict=True) if isinstance(one, BaseException)}

    def listen(self, topic: str) -> None:
        """Puts everything that is sent under a topic into the inbox, and reports there when workers come and go."""
        self._client.subscribe_topic(topic, lambda event: self.inbox.put(("events", event[1])))
        self._client.subscribe_topic("all", self._heard)

    def submit(self, function: Callable[..., Any], job: Any, attempt: str, worker: str) -> Future[Any]:
        """Lets a worker call a function; its end is reported in the inbox."""
        future: Future[Any] = self._client.submit(
            function, job, key=f"yao-test-{attempt}", workers=[worker], pure=False, retries=0
        )
        future.add_done_callback(lambda _: self.inbox.put(("ended", attempt)))
        return future

    def run_each(
        self,
        function: Callable[..., Any],
        items: list[Any],
        is_over: Callable[[], bool],
        heard: Callable[[Any], None],
        *,
        workers: list[str],
    ) -> list[Any] | None:
        """What a function makes of each of some items on workers, again where one is lost; blocks. None when it is
        given up because it `is_over`; `heard` gets the events that come meanwhile. Raises what the function raises, and
        RunnerError when the scheduler is gone."""

        async def call() -> list[Any]:
            return list(await asyncio.gather(*(future.result() for future in futures)))

        futures = [self._client.submit(function, item, workers=workers, pure=False) for item in items]
        asked = self._thread.start(call)
        while True:
            is_done = wait([asked], LOOK).done
            while not self.inbox.empty():
                kind, *event = self.inbox.get()
                if kind == "events":
                    heard(*event)
            if is_done:
                return asked.result()
            if is_over():
                asked.cancel()
                self.cancel(futures)
                return None
            if self.is_lost:
                raise gone(self.address)

    def cancel(self, futures: list[Future[Any]]) -> None:
        """Gives calls up."""
        if futures and not self.is_lost:
            self._asked(lambda: self._client.cancel(futures, force=True))

    def close(self) -> None:
        """Ends the connection."""
        self._is_closing = True
        wait(self._messages, CLOSING)
        try:
            self._thread.start(lambda: self._client.close(timeout=CLOSING)).result(2 * CLOSING)
        except Exception:  # of a scheduler that has ended
            pass
        finally:
            self._thread.end()

    def _heard(self, event: tuple[float, Any]) -> None:
        said = event[1]
        if isinstance(said, dict) and said.get("action") in _WORKERS:
            self.inbox.put((_WORKERS[said["action"]], said["worker"]))

    def _asked(self, call: Callable[[], Awaitable[Any]], seconds: float = ASKING) -> Any:
        """Asks the scheduler, which has to answer in time."""
        asked = self._thread.start(call)
        try:
            return asked.result(seconds)
        except Exception as error:
            asked.cancel()
            raise gone(self.address, error) from error

    def _send(self, call: Callable[[], Awaitable[None]]) -> None:
        if not self._is_closing and not self.is_lost:
            message = self._thread.start(call)
            self._messages.add(message)
            message.add_done_callback(self._messages.discard)


async def _connected(url: str, security: Security | None) -> Client:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client: Client = await _Client(  # type: ignore[no-untyped-call]
            url, security=security, timeout=REACHING, set_as_default=False, name="yao-test", asynchronous=True
        )
    return client


def _silence() -> None:
    """Silences Dask's log: the run reports its errors and warnings."""
    libraries = ("distributed", "tornado", "asyncio")
    for name in (*libraries, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in libraries:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def gone(address: ClusterAddress, error: Exception | None = None) -> RunnerError:
    """The error when the scheduler does not answer any more."""
    if isinstance(error, TimeoutError):
        error = None
        said = f"The cluster at {address} does not answer"
    else:
        said = f"The scheduler of the cluster at {address} is gone"
    why = f": {type(error).__name__}: {error}" if error is not None and str(error) else ""
    return RunnerError(
        f"{said}{why}",
        "Results so far are in the report: continue a .jsonl report with --resume",
    )


def _check_reachable(address: ClusterAddress) -> None:
    """Looks whether somebody listens, which the client would try for long. Raises ConfigurationError."""
    try:
        socket.create_connection((address.host, address.port), REACHING).close()
    except OSError as error:
        raise ConfigurationError(
            f"Cannot reach the cluster at {address}: {error.strerror or error}",
            "Check that the scheduler is running and that this is the address that `dask scheduler` printed",
        ) from error


def _refusal(address: ClusterAddress, error: BaseException) -> ConfigurationError:
    """The error when no connection comes about."""
    cause: BaseException | None = error
    said = []
    while cause is not None:
        said.append(f"{cause}")
        if isinstance(cause, ssl.SSLError) or "certificate" in str(cause).lower() or "TLS" in str(cause):
            return ConfigurationError(
                f"Cannot connect to the cluster at {address}: the TLS connection failed: {cause}",
                "Its certificates must match distributed.comm.tls in the Dask configuration",
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, TimeoutError) and not str(error):
        said[0] = "the server there is not a Dask scheduler"
    hint = "If it uses TLS, its address begins with tls://" if address.url.startswith("tcp") else None
    return ConfigurationError(f"Cannot connect to the cluster at {address}: {said[0]}", hint)


T = TypeVar("T")
LATE = 5.0
"""Seconds that what runs on the loop gets to end."""


class LoopThread:
    """Runs until it is ended."""

    def __init__(self) -> None:
        self._ready, self._over = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="cluster-loop", daemon=True)
        self._thread.start()
        self._ready.wait()

    def start(self, call: Callable[[], Awaitable[T]]) -> Called[T]:
        """Calls a function on the loop, and waits there for what it returns; from any thread."""

        async def called() -> T:
            return await call()

        return asyncio.run_coroutine_threadsafe(called(), self.loop)

    def end(self) -> None:
        """Ends the loop, and all that runs on it."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._over.set)
            self._thread.join(LATE)

    async def _run(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ready.set()
        await self._over.wait()
