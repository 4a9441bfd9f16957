"""The worker process: reads frames on one descriptor, runs tests, and writes frames on another.

The supervisor starts it as `python -I -S -c ...` with only the standard library and `_quickjs` on its path. Scripts run
on a thread with a large stack. The main thread waits on the lifeline, a pipe: there it learns which work has run out of
time. It ends the process when the supervisor has ended, even while a script loops, because the engine releases the
interpreter's lock.
"""

from __future__ import annotations

import _thread
import os
import sys
from time import localtime

from scripttest.realm.channel import Channel, Output, failure_envelope
from scripttest.realm.engine import EngineError, Formatting, ScriptParts
from scripttest.realm.realm import Alarm, Realm, SpareRealms, put_back
from scripttest.shortcuts import declares_built_in
from scripttest.walls.confinement import MAX_INHERITED, close_files, close_system, give_way, limit_resources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scripttest.realm.counting import Counters, Mutants
    from scripttest.realm.story import Story

THREAD_STACK = 160 * 1024 * 1024
"""Bytes of address space for the script thread: room for `DEPTH_LIMIT` realms inside each other."""
DEPTH_LIMIT = 8
"""How deep `Process("scripts...")` calls may nest."""
CHUNK = 1 << 16
_GUARDED = '"guarded": false', '"guarded": true'


def main(counters: Counters | None = None, mutants: Mutants | None = None, story: Story | None = None) -> None:
    """Entry point of the process. `sys.argv` has the core's folder and the descriptors for incoming frames, outgoing
    frames and the lifeline. `counters` are used in all realms, also as `mutants` where scripts have some; `story` takes
    in what scripts tell."""
    folder, incoming, outgoing, lifeline = sys.argv[1], *map(int, sys.argv[2:5])
    os.closerange(max(2, incoming, outgoing, lifeline) + 1, MAX_INHERITED)
    give_way()
    limit_resources()
    _thread.stack_size(THREAD_STACK)
    worker = Worker(folder, incoming, outgoing, counters, mutants, story)
    localtime()  # reads the time zone of this machine, once
    close_files()
    _thread.start_new_thread(run, (worker,))
    while heard := os.read(lifeline, CHUNK):
        for expired in heard.decode().split():
            worker.alarm.ring(expired)
    os._exit(0)


def run(worker: Worker) -> None:
    """The main function of the script thread: it handles frames until the supervisor closes its end. Any error ends the
    process."""
    close_system()
    try:
        worker.serve()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(70)
    os._exit(0)


class Worker:
    """Runs the work of one supervisor."""

    def __init__(
        self,
        folder: str,
        incoming: int,
        outgoing: int,
        counters: Counters | None,
        mutants: Mutants | None,
        story: Story | None,
    ) -> None:
        self._mutants, self._story = mutants, story
        self._settings = ""
        """What the recorder of the next realms is told, see `bindings/src/realm/story.ts`."""
        self._channel = Channel(incoming, outgoing, self._meanwhile)
        self._send, self._ask = self._channel.send, self._channel.ask
        self._output = Output(self._send)
        self._parts = ScriptParts(folder, counters)
        self._formatting = Formatting(folder)
        self._libraries: dict[str, tuple[list[str], bool]] = {}
        self.alarm = Alarm()
        self._listed: Realm | None = None
        """The realm in which the module was listed, for its first test. Not kept when its top-level code has made host
        calls, whose effects belong to the world of each test."""
        self._has_called = False
        """Whether there was a host call in the current work."""
        self._ready: Realm | None = None
        """A realm that is ready for the next function."""
        self._over: Realm | None = None
        """The realm of the last function, which is freed later because that takes time."""
        self._used = " "
        """Names of the parts of the bindings that realms have loaded, separated and surrounded by spaces."""
        self._spares = SpareRealms(self._new_realm)
        self._boot = self._nested_boot = self._context = ""
        self._scripts: list[str] = []
        self._lead = self._entry = self._base = ""
        self._end = 0
        self._backs = 0
        """How many questions of the host a realm is answering at the moment."""
        self._world = ""
        """What the outermost realm reports of its world; see `protocol`."""

    def serve(self) -> None:
        """Handles frames until the supervisor closes its end."""
        for kind, parts in self._channel.frames:
            if kind == "module":
                self._module(parts)
            elif kind == "discover":
                self._discover(*parts)
            elif kind == "base":
                self._base, self._end = parts[0], len(parts[0].rstrip("\n"))
            elif kind == "run":
                self._run(parts)
            elif kind == "switch" and self._mutants is not None:
                self._mutants.switch(*parts)
            elif kind == "tell":
                self._settings = parts[0]
            elif kind == "invoke":
                self._send("start")
                answer = self._worked("call", self._invoke, *parts)
                self._report()
                self._send("returned", answer)
                self._make_ready()
            elif kind == "spare":
                self._spares.pause()
            elif kind == "expired":
                self.alarm.begin("")  # that work has ended
                self.alarm.ring(parts[0])

    def _meanwhile(self, kind: str, parts: list[str]) -> bool:
        """Handles a frame that arrives while a host call waits; returns whether time is up."""
        if kind == "back":
            self._back(*parts)
        elif kind == "expired":
            self.alarm.ring(parts[0])
            return self.alarm.rang
        return False

    def _back(self, number: str, name: str, arguments: str) -> None:
        """Lets the realm of the test answer a question of the host, while it waits for the host itself."""
        if self.alarm.rang or self._backs == DEPTH_LIMIT or not self.alarm.realms:
            why = f"Cannot call back: {DEPTH_LIMIT} such calls are already nested"
            self._send("backed", number, failure_envelope(why), self._world)
            return
        self._backs += 1
        try:
            answer = self._in_test("back", name, arguments)
        except EngineError as error:
            answer = failure_envelope(str(error).partition("\n")[0])
        finally:
            self._backs -= 1
        self._send("backed", number, answer, self._world)

    def _module(self, parts: list[str]) -> None:
        self._listed = None
        self._libraries = {}  # each module asks for those that it calls, so that the host knows them
        self._boot, self._nested_boot, self._context, *rest = parts
        self._scripts = ["\n" * (int(line) - 1) + code for line, code in zip(rest[0::2], rest[1::2], strict=True)]
        self._lead, self._entry = "\n" * (int(parts[-2]) - 1), parts[-1]
        self._base = ""

    def _discover(self, kinds: str, others: str) -> None:
        self._found: list[str] = []
        self._begin("module")
        self._count_again()
        realm = self._enter()
        try:
            realm.load(self._scripts)
            realm.dispatch("tests", kinds, others)
        except EngineError as error:
            self.alarm.leave()
            self._tell()
            self._send("broken", realm.expired(str(error)) if self.alarm.rang else self._why(str(error)))
            return
        self.alarm.leave()
        if self._has_called:
            self._spares.put_aside(realm)
        else:
            self._listed = realm
        self._send("tests", *self._found)

    def _run(self, parts: list[str]) -> None:
        indexes = parts[0::3]
        self._send("start", indexes[0])
        following = [*indexes[1:], ""]
        for index, plan, pieces, next in zip(indexes, parts[1::3], parts[2::3], following, strict=True):
            outcome = self._worked(index, self._test, plan, pieces)
            is_endless = self._report()
            if self._mutants is not None and self._mutants.is_on:
                next = "" if is_endless or outcome.partition('"status":"')[2].startswith("failed") else next
            self._send("result", index, outcome, next)
            if not next:
                return

    def _report(self) -> bool:
        """Sends where scripts with mutants got to, and the story of what has ended; returns whether a limit was met."""
        self._tell()
        if self._mutants is None:
            return False
        reached = self._mutants.reached(self.alarm.patience)
        self._send("reached", *reached)
        return bool(reached[2])

    def _tell(self) -> None:
        if self._story is not None:
            self._send("story", self._story.lines())

    def _count_again(self) -> None:
        if self._mutants is not None:
            self._mutants.restart()

    def _worked(self, work: str, run: Callable[..., str], *arguments: str) -> str:
        """The outcome of work during which time may run out."""
        self._begin(work)
        try:
            return run(*arguments)
        finally:
            self._output.end()

    def _begin(self, work: str) -> None:
        """Begins work, which sees nothing of what was before it."""
        self._world = ""
        self._output.noted.clear()
        self._has_called = False
        if self._mutants is not None:
            self.alarm.patience = self._mutants.take_limits()
        self.alarm.begin(work)

    def _test(self, plan: str, pieces: str) -> str:
        realm = self._listed
        if realm is not None:
            self._listed = None
            self.alarm.realms.append(realm)
        else:
            self._count_again()
            realm, scripts = self._enter(), self._scripts
            if pieces:  # the last one is reduced to what the test needs
                scripts = [*scripts[:-1], self._lead + put_back(self._base, self._end, self._entry, pieces)]
            try:
                realm.load(scripts)
            except EngineError as error:
                self.alarm.leave()
                if self.alarm.rang:
                    return realm.expired(str(error))
                return self._test(plan, "") if pieces else self._why(str(error))
        if self._story is not None:
            self._story.loaded()
        outcome = realm.test(plan)
        self.alarm.leave()
        self._spares.put_aside(realm)
        return outcome

    def _invoke(self, boot: str, nested_boot: str, context: str, function: str, arguments: str) -> str:
        """Calls a function of the scripts for the host, and returns JSON: see `invoke.ts` in the bindings, or
        `{unloaded}` with the outcome of a script that throws while it is loaded."""
        self._boot, self._nested_boot, self._context = boot, nested_boot, context
        self._count_again()
        ready, self._ready = self._ready, None
        realm = self._over = self._enter(made=ready)
        try:
            realm.load(self._scripts)
        except EngineError as error:
            answer = realm.given_up(str(error)) if self.alarm.rang else f'{{"unloaded":{self._why(str(error))}}}'
        else:
            if self._story is not None:
                self._story.loaded()
            answer = realm.invoke(function, arguments)
        self.alarm.leave()
        return answer

    def _make_ready(self) -> None:
        """Prepares the realm of the next function in a pause, as far as it is the same for all functions."""
        self.alarm.begin("")  # a late message about the last function must not stop the next one
        realm = self._new_realm()
        self.alarm.enter(realm)
        realm.dispatch("ready", self._used)
        self.alarm.leave()
        self._ready, self._over = realm, None

    def _why(self, engine_text: str, before: int = 0) -> str:
        """The outcome of work that broke: loads the scripts again. The one behind the first `before` is evaluated in a
        way that shows what it throws, but keeps what it declares from others."""
        realm = self._enter()
        try:
            realm.load(self._scripts[:before])
            if failure := realm.dispatch("load", self._scripts[before]):
                return str(failure)
            if before + 1 == len(self._scripts):
                return realm.broken(engine_text)
        except EngineError as error:
            return realm.broken(str(error))
        finally:
            self.alarm.leave()
        return self._why(engine_text, before + 1)

    def _enter(self, nested: bool = False, made: Realm | None = None, guarded: bool = False) -> Realm:
        realm = made or self._spares.take()
        self.alarm.enter(realm)
        boot = self._nested_boot if nested else self._boot
        realm.dispatch("boot", boot.replace(*_GUARDED, 1) if guarded else boot, self._context)
        if nested and self._world:
            realm.dispatch("adopt", self._world)
        if self._story is not None:
            if not nested:
                self._story.begin()
            realm.dispatch("story", self._settings, "")
        if self._mutants is not None:
            realm.load([self._mutants.script])
        return realm

    def _new_realm(self) -> Realm:
        return Realm(self._parts, self._host_bridge, self.alarm, self._output.noted)

    def _host_bridge(self, op: str, a: str, b: str) -> str | None:
        """Answers `$bridge` calls of scripts. None when time is up: the caller then waits until it is stopped. Never
        raises, see `engine`."""
        try:
            if op == "log":
                self._output.add(a, b)
            elif op == "part":
                if f" {a} " not in self._used:
                    self._used += f"{a} "
                return self.alarm.realms[-1].part(a)
            elif op == "call":
                self._has_called = True
                answer = None if self.alarm.rang else self._ask("call", a, b, self._world)
                return answer[0] if answer else None
            elif op == "outer":
                return self._in_test("host", a, b)
            elif op == "script":
                return self._script(a, b)
            elif op == "found":
                self._found += [a, b]
            elif op == "intl":
                return self._formatting.answer(a)
            elif op == "world":
                self._world = a
            elif op == "jobs":
                self.alarm.realms[-1].run_jobs()
            elif op == "world-state":
                return self._world
            elif op == "sleep":
                return None if self.alarm.sleep(float(a) / 1000) and self.alarm.rang else ""
            elif op == "failed":
                self._output.fail(a, b)
            elif op == "look":
                return self.alarm.realms[-1].look()
            elif op == "told" and self._story is not None:
                return self._story.told(a, b)
            return ""
        except EngineError as error:
            return None if self.alarm.rang else failure_envelope(str(error))
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(70)

    def _in_test(self, *call: str) -> str:
        """Asks the realm of the test, while that waits for the answer to a call of its own."""
        self.alarm.enter(self.alarm.realms[0])
        try:
            return str(self.alarm.realms[0].dispatch(*call))
        finally:
            self.alarm.leave()

    def _script(self, name: str, arguments: str) -> str | None:
        """Calls a function of another script in a new realm. Returns an empty text if there is no such script."""
        if len(set(self.alarm.realms)) > DEPTH_LIMIT:
            return failure_envelope(f"Cannot call {name}: {DEPTH_LIMIT} script calls are already nested")
        script = name.rpartition(".")[0]
        library = self._libraries.get(script)
        if library is None:
            found = None if self.alarm.rang else self._ask("library", script)
            if found is None:
                return None
            status, *answer = found
            if status != "ok":
                return "" if status == "missing" else failure_envelope(answer[0], 404)
            library = self._libraries[script] = answer, any(map(declares_built_in, answer))
        scripts, guarded = library
        realm = self._enter(nested=True, guarded=guarded)
        try:
            realm.load(scripts)
            return realm.call(name, arguments)
        except EngineError as error:
            message, _, stack = str(error).partition("\n")
            if self.alarm.rang:
                self.alarm.stopped += stack.replace("<input>", f"<{script}>")
                return None
            return failure_envelope(f"Cannot call {name}: {message}", stack=stack)
        finally:
            self.alarm.leave()
