"""`yao-test mutate --prompts`: each rule of a prompt is left out in turn, and the cases run without it. Which rule does
any case hold? Its sentences, bullets and examples are rules, and the descriptions of tools."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from runner.agents.assistant import AgentVariant
from runner.compare.change_report import A_AND_B, BeforeAfter, ChangeReport, ChangeVerdict, cases_of
from runner.compare.change_verdict import change_of
from runner.errors import ConfigurationError
from runner.execution.run import Run
from runner.execution.stopping import Budgets
from runner.mutation.talks import Asking, Talks, newest_talks, planned
from runner.mutation.verdicts import Status
from runner.mutation.weak_cases import is_free
from runner.record.combining import of_runs
from scripttest import Cause
from scripttest import Status as TestStatus
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.planning.plan import CaseSource, RunRequest
    from runner.record.model import TestResult
    from runner.record.report import Report

_BULLET = r"[ \t]*(?:[-*•]|\d+[.)])[ \t]+"
_FENCE = r"[ \t]*(?:```|~~~)"
_HEADING = r"[ \t]*\#|[^\n]*:[ \t]*$"
_BLOCK = re.compile(
    rf"""
      (?P<rule> ^{_FENCE}[^\n]*\n? (?: ^(?!{_FENCE})[^\n]*\n )* [^\n]*\n?
              | ^{_BULLET}[^\n]*\n? (?: ^(?!{_BULLET})[ \t]+[^\s][^\n]*\n? )* )
    | (?P<heading> ^(?:{_HEADING})[^\n]*\n? )
    | (?P<paragraph> (?: ^(?!{_BULLET}|{_FENCE}|{_HEADING})[^\n]*\S[^\n]*\n? )+ )
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A block of code up to its end, an item of a list with the lines that belong to it, a heading, or other lines."""
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.S)
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|z\.B|etc|vs|Mr|Ms|Dr|No)\.$")

Prompts = tuple[Mapping[str, Any], ...]


WORDS = {Status.UNDECIDED: "cannot tell", Status.SURVIVED: "not held", Status.KILLED: "held"}
"""Whether a case holds a rule, in the order in which rules are shown → the word for it in documents."""


class Rule(Value):
    """A part of the prompts, and the prompts without it; or the description of a tool."""

    text: str
    """On one line."""
    prompts: Prompts
    tool: str = ""
    """The tool, as the model knows it."""


class RuleVerdict(Value):
    """What the cases say of a rule."""

    __members__ = "agent rule verdict! held_by! reason!"
    __beside__ = "status"

    agent: str
    rule: str
    status: Status
    held_by: tuple[str, ...] = ()
    """The cases that fail, or fail more often, without it."""
    reason: str = ""
    """Why nothing can be said."""

    @property
    def verdict(self) -> str:
        """Whether a case holds it, in words."""
        return WORDS[self.status]


class Planned(Value):
    """What a run would cost."""

    rules: int
    calls: int
    """Answers that agents give, at the least: a turn is one."""
    is_free: bool
    """Whether all of them are scripted."""
    cost: float | None
    """US dollars, by what the newest run of these cases cost; None: not known."""


class PromptRules(Value):
    """What came of it."""

    verdicts: tuple[RuleVerdict, ...]
    failed: Mapping[str, str] = {}
    """Cases that fail with all rules → why; they say nothing of any rule."""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    code: int | None = None


def find_rules(
    request: RunRequest,
    read: Callable[[str], Report],
    *,
    may_ask: Callable[[Planned], None],
    sample: int | None = None,
    resume: Path | None = None,
    store: Path | None = None,
) -> PromptRules:
    """Runs the cases of a request with each rule left out. Blocks. Raises ConfigurationError.

    Args:
        read: reads a report by its name.
        may_ask: hears what it costs before any model is asked, and raises ConfigurationError if that is not allowed.
        sample: only so many rules, drawn by `--seed`.
        resume: the file beside which answers of models are kept, so that a run that was interrupted goes on.
        store: the folder of the store, where there is one: what earlier runs cost.
    """
    options = request.options
    with planned(request) as run:
        plan, services, stop = run.plan, run.services, run.stop
        work = _Work(run, sample)
        costs = work.costs
        if not costs.is_free:
            talks = newest_talks(plan.sources, None, read, request.environment, store)
            costs = costs.replace(cost=_cost_of(talks, costs))
        may_ask(costs)
        if resume is not None:
            services.keep_answers(resume, resume.exists(), options.parallel or 1)
            resume.touch()
        budgets = Budgets(options, stop)
        services.count_usage(budgets)
        with suppress(asyncio.CancelledError):
            services.agents().run(work.run(), lambda: stop.over)
        budgets.end()
        if services.journal is not None:
            services.journal.close(complete=stop.reason is None)
        return PromptRules(
            verdicts=tuple(work.verdicts),
            failed=work.failed,
            warnings=plan.warnings,
            stopped=stop.reason,
            code=stop.code,
        )


class _Work:
    def __init__(self, run: Run, sample: int | None) -> None:
        plan = run.plan
        self._run = run
        self._runs = plan.options.runs
        self._slots = asyncio.Semaphore(plan.options.parallel or 1)
        self._asking = Asking(run)
        self._sources: dict[str, list[CaseSource]] = {}
        for source in plan.sources:
            self._sources.setdefault(source.assistant.id, []).append(source)
        rules = [(agent, rule) for agent in self._sources for rule in self._rules_of(agent)]
        if sample is not None and sample < len(rules):
            drawn = random.Random(plan.options.seed or 0).sample(range(len(rules)), sample)
            rules = [rules[number] for number in sorted(drawn)]
        self._rules = rules
        self.verdicts: list[RuleVerdict] = []
        self.failed: dict[str, str] = {}
        if not rules:
            raise ConfigurationError(
                "Cannot test rules: the agents of these cases have no system prompts", "Pass a case file with -i"
            )

    def _rules_of(self, agent: str) -> list[Rule]:
        """The rules of an agent's prompts, and the descriptions of its tools. Blocks while servers are asked."""
        assistant = self._sources[agent][0].assistant
        service = self._run.services.agents()
        box = service.run(service.runtime.toolbox(assistant.servers, f"agent {agent}", may_lack=True))
        return [*rules_of(assistant.prompts), *rules_of_tools(box.tools(), tuple(assistant.prompts))]

    @property
    def costs(self) -> Planned:
        """What the run costs."""
        turns = {agent: self._turns(agent) for agent in self._sources}
        asked = {agent for agent, _ in self._rules}
        calls = sum(turns[agent] for agent in asked) + sum(turns[agent] for agent, _ in self._rules)
        free = all(is_free(source, self._run) for found in self._sources.values() for source in found)
        return Planned(rules=len(self._rules), calls=calls * self._runs, is_free=free, cost=None)

    def _turns(self, agent: str) -> int:
        cases = [located.case for source in self._sources[agent] for located in source.cases()]
        return sum(max(1, len(getattr(case, "turns", ()))) for case in cases if not case.skip)

    async def run(self) -> None:
        """Tries the rules, agent by agent."""
        whole: dict[str, list[TestResult]] = {}
        for agent, rule in self._rules:
            if agent not in whole:
                whole[agent] = await self._results(agent, None)
                for result in whole[agent]:
                    if result.outcome.status is not TestStatus.PASSED:
                        why = result.outcome.failures[0].message if result.outcome.failures else "it is skipped"
                        self.failed[result.name] = why
            without = await self._results(agent, rule)
            self.verdicts.append(self._verdict(agent, rule, whole[agent], without))
        await self._asking.finish()

    async def _results(self, agent: str, rule: Rule | None) -> list[TestResult]:
        prompts, tool = (rule.prompts, rule.tool) if rule is not None else (None, "")
        variant = AgentVariant(name="", agent=agent, connector="", prompts=prompts, env={}, digest="", undescribed=tool)
        waiting = [
            self._result(source, located.case, located.line, variant)
            for source in self._sources[agent]
            for located in source.cases()
            if not located.case.skip
        ]
        return list(await asyncio.gather(*waiting))

    async def _result(self, source: CaseSource, case: Case, line: int, variant: AgentVariant) -> TestResult:
        results = []
        for run in range(1, self._runs + 1):
            async with self._slots:
                result = await self._asking.result(source, case, line, run=run, variant=variant)
            if isinstance(result, str):
                raise ConfigurationError(f"Cannot run the cases of {source.suite.label}: {result}")
            results.append(result.replace(run=run))
        return results[0].replace(run=0) if self._runs == 1 else of_runs(results, 100)

    def _verdict(
        self, agent: str, rule: Rule, whole: Sequence[TestResult], without: Sequence[TestResult]
    ) -> RuleVerdict:
        first = [result.outcome.failures[0] for result in without if result.outcome.failures]
        broken = next((failure.message for failure in first if failure.cause == Cause.INFRASTRUCTURE), "")
        named = {result.name for result in whole if result.outcome.status is TestStatus.PASSED}
        if not named:
            reason = "no case passes with all rules"
            return RuleVerdict(agent=agent, rule=rule.text, status=Status.UNDECIDED, reason=reason)
        suites = {source.suite.id: source.suite for source in self._sources[agent]}
        of_both = [[one for one in results if one.name in named] for results in (whole, without)]
        before, after = (cases_of(results, suites) for results in of_both)
        is_replayed = self._run.options.replay is not None
        found = change_of(before, after, A_AND_B, replayed=BeforeAfter(a=is_replayed, b=is_replayed))
        fell = found.fell if found.verdict is ChangeVerdict.REGRESSED else found.suspects
        return RuleVerdict(
            agent=agent,
            rule=rule.text,
            status=_status(found),
            held_by=tuple(case.key.id for case in fell),
            reason=broken or ("too few runs: --runs" if found.verdict is ChangeVerdict.CANNOT_TELL else ""),
        )


def _cost_of(talks: Mapping[str, Talks], planned: Planned) -> float | None:
    """What a run costs if an answer costs what it did in earlier talks; None if some have no known cost."""
    results = [result for one in talks.values() for result in one.of_cases.values()]
    cases = [result.case for result in results if not isinstance(result, str) and result.case is not None]
    costs = [case.cost for case in cases]
    answers = sum(max(1, len(case.turns)) for case in cases)
    known = [cost for cost in costs if cost is not None]
    return sum(known) / answers * planned.calls if known and len(known) == len(costs) else None


def _status(found: ChangeReport) -> Status:
    if found.verdict is ChangeVerdict.REGRESSED:
        return Status.KILLED
    return Status.UNDECIDED if found.fell and found.verdict is ChangeVerdict.CANNOT_TELL else Status.SURVIVED


def rules_of(prompts: Sequence[Mapping[str, Any]]) -> list[Rule]:
    """The rules of prompts, in their order. Headings, and lines that lead to a list, are none; a block of code is one,
    and so is an example: a message of the user with the answer that follows it."""
    found = []
    for number, prompt in enumerate(prompts):
        before, after = prompts[:number], prompts[number + 1 :]
        if prompt.get("role") == "user":
            answer = after[:1] if after and after[0].get("role") == "assistant" else ()
            rest = after[len(answer) :]
            said = " → ".join(str(one.get("content", "")) for one in (prompt, *answer))
            found.append(Rule(text=_on_one_line(said), prompts=(*before, *rest)))
            continue
        text = prompt.get("content")
        if prompt.get("role") != "system" or not isinstance(text, str):
            continue
        for start, end in _spans(text):
            left = f"{text[:start]}{text[end:]}"
            prompts_left = ({**prompt, "content": left},) if left.strip() else ()
            found.append(Rule(text=_on_one_line(text[start:end]), prompts=(*before, *prompts_left, *after)))
    return found


def rules_of_tools(tools: Iterable[Mapping[str, Any]], prompts: Prompts) -> list[Rule]:
    """The rules of tools, `{name, description}`: their descriptions; `prompts` stay."""
    return [
        Rule(text=f"{tool['name']}: {_on_one_line(tool['description'])}", prompts=prompts, tool=tool["name"])
        for tool in tools
        if tool["description"].strip()
    ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each rule of a text begins and ends."""
    for block in _BLOCK.finditer(text):
        if block.lastgroup == "rule":
            yield block.span()
        elif block.lastgroup == "paragraph":
            yield from _sentences(text, *block.span())


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begun: int | None = None
    for match in _SENTENCE.finditer(text, start, end):
        begun = match.start() if begun is None else begun
        if not match[0].strip() or (_ABBREVIATED.search(match[0]) and match.end() < end):
            continue
        yield begun, match.end()
        begun = None


def _on_one_line(text: str) -> str:
    return " ".join(re.sub(_BULLET, "", text, count=1).split())
