"""The other side of a talk: whether an agent waits for its user after an answer (seed 000, "Detection Strategies"), and
the agent or script that plays the user (seeds 000 and 001, facts (g)).

The first strategy that applies decides:

| strategy | waits | reason |
| --- | --- | --- |
| the completion, Next's data, or a JSON answer declares it | as `awaiting_input` says | `agent_declared` |
| a tool that asks the user was called | yes | `tool_requires_confirmation` |
| finish reason `tool_calls` or `length`, unless Next has answered | no | `finish_reason` |
| the text is a question, or asks for something | yes | `content_is_question` |
| none of these | no | `completed` |

An `input_hint` alone also declares that the agent waits.

A simulator gets one JSON object, as the message and as the metadata of the call; a script gets it as its argument:

| field | |
| --- | --- |
| persona, goal | from the case's `simulator`, wherever they are in it |
| conversation | `{role, content}` of everything that user and agent said, as text |
| last_response | the last answer of the agent |
| turn_number, turn_count, max_turns | number of the next turn, from 1; number of turns so far; most turns |
| checkpoints_reached, checkpoints_pending | ids, in dynamic mode |
| tool_results | tool → its last result |
| test_mode, test_id, session_id | `simulator`, the case, its chat |
| extra | other fields of the simulator's metadata, which are also in the metadata of the call |

It answers `{input, goal_achieved, reasoning}`, or a text, which is what the user says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.helpers import ask_helper
from runner.agents.references import find_function
from runner.assertions.base import NotEvaluated
from runner.assertions.values import parsed
from runner.cases.model import simulator_reference
from runner.errors import RunnerError, sentences
from runner.reading.answer_text import behind_thinking
from runner.reading.helper_answers import Simulation, Unclear, read_simulation
from scripttest import ScriptError, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.agents.chat import Chat
    from runner.assertions.base import ToolUse
    from runner.cases.turns import Simulator
    from runner.modes.mode import Mode

INPUT_TOOLS = ("request_confirmation", "ask_user", "get_user_input")
"""Tools that ask the user, where a case names no others."""
TEXT_LIMIT = 4000
"""Letters at the end of an answer in which a question is looked for."""

_TEXTS = ("content", "message", "question", "prompt", "text", "reply")
"""Fields of objects with the text for the user, the best first."""
_UNFINISHED = ("tool_calls", "length")

_MARKS = "?？؟\u037e፧⁇⁈︖﹖"
_TRAILING = " \t\n*_~`\"'”’»）)]】」』"
_SENTENCE = re.compile(r"(?<=[.!?？؟。！．])\s+|(?<=[？。！])(?=[^\s*_~`\"'”’»）)\]】」』])|\n+")
_SAYS_SOMETHING = re.compile(rf"[^\W_]|[{_MARKS}]")
_LIST_LINE = re.compile(r"\s*(?:[-*•–]|\(?\w{1,2}[.)])\s+\S")
_REMARK = re.compile(r"(?<!\s)\s*+[(（][^()（）]*[)）][.。]?\s*+$")
_OPENS_AS_QUESTION = re.compile(r"(?i)^\W*(?:what|how|when|where|which|who|please|could you)\b")
_ASKS_TO_GO_ON = re.compile(r"(?i)(?:confirm|verify|proceed|continue)\?")
_NO_REQUEST = re.compile(
    r"(?i)please (?:wait|hold|note|find|see|feel free|be (?:aware|patient|assured)|stand by|bear with|let me know if"
    r"|do(?: not|n['’]t) hesitate)|^\W*what an?\s|[请請](?:稍|等|耐心|注意|放心)|お待ち|ご注意|기다려"
    r"|bitte (?:warten|beachten)|por favor,? esper|veuillez patienter|пожалуйста,? подождите"
)
"""Polite words that ask for nothing."""
_REQUESTS = re.compile(
    r"""(?ix)
    ^\W*(?:what|how|when|where|which|who|please|could\ you)\b
    | [请請](?:问|問)
    | [请請]您?(?:再|先)?(?:提供|输入|选择|确认|告诉|告知|说明|填写|补充|回复|描述|上传)
    | [请請]您?(?:再|先)?(?:輸入|選擇|確認|告訴|說明|填寫|補充|回覆|上傳)
    | 是否|能否|可否|要不要
    | [吗嗎呢]$
    | (?<![ほな静確僅])か$ | (?:教えて|入力して|お聞かせ|お知らせ|選んで|確認して)ください$
    | (?:까|까요|나요|가요|는지요)$ | (?:알려|입력해|선택해|확인해|말씀해)\s?주(?:세요|십시오)$
    | ¿ | ՞ | [\u0370-\u03ff];$
    | ^\W*(?:por\ favor|indique|indíque\w*|dígame|podría|puede\s+decirme)\b
    | ^\W*(?:veuillez|merci\ de|pourriez-vous|pouvez-vous|indiquez)\b
    | ^\W*(?:bitte|könnten\ sie|können\ sie|nennen\ sie)\b
    | ^\W*(?:per\ favore|indichi|potrebbe)\b
    | ^\W*(?:пожалуйста|укажите|введите|подтвердите|сообщите|уточните|выберите)\b
    | ^\W*(?:lütfen)\b
    | ^\W*(?:يرجى|من\ فضلك|الرجاء|هل)\b
    | ^\W*(?:कृपया)
    | (?:หรือไม่|ไหม|ไหมคะ|ไหมครับ)$ | ^\W*(?:กรุณา)
    | ^\W*(?:vui\ lòng|xin\ (?:vui|cho))\b
    """
)


class Awaiting(Value):
    """Whether the agent waits for the user, and why."""

    awaiting: bool
    reason: str
    """One of the names above."""
    hint: str | None = None


def detect(answer: Answer, tools: Sequence[ToolUse], input_tools: Sequence[str] | None = None) -> Awaiting:
    """Whether the agent waits. `tools`: the tools that were called for this answer. `input_tools`: names of tools
    that ask the user, instead of `INPUT_TOOLS`."""
    declared, hint = _declared(answer)
    if declared is not None:
        return Awaiting(awaiting=declared, reason="agent_declared", hint=hint)
    if _asking_tool(tools, input_tools) is not None:
        return Awaiting(awaiting=True, reason="tool_requires_confirmation")
    if answer.next is None and answer.completion and answer.completion.ending in _UNFINISHED:
        return Awaiting(awaiting=False, reason="finish_reason")
    if looks_like_question(said_in(answer)):
        return Awaiting(awaiting=True, reason="content_is_question")
    return Awaiting(awaiting=False, reason="completed")


def question_in(answer: Answer, tools: Sequence[ToolUse], input_tools: Sequence[str] | None = None) -> str:
    """The agent's question to the user: that of its tool, else its last sentence that is a question, else all of it."""
    use = _asking_tool(tools, input_tools)
    asked = text_in(use.arguments) if use is not None else ""
    text = asked or said_in(answer)
    sentences = _sentences(text)
    asking = [sentence for sentence in sentences if _asks(sentence)]
    return asking[-1] if asking else text.strip()


def said_in(answer: Answer) -> str:
    """The agent's text to the user: that in Next's data or in a JSON answer, else the completion; without thinking."""
    if answer.next is not None:
        return behind_thinking(text_in(answer.next))
    parsed = _object_in(answer.content)
    return text_in(parsed) if parsed is not None else behind_thinking(answer.content)


def looks_like_question(text: str) -> bool:
    """Whether a text asks the user for something, by its last sentence, or by how it opens."""
    sentences = _sentences(text)
    if not sentences:
        return False
    if _asks(sentences[-1]) or _ASKS_TO_GO_ON.search(text[-TEXT_LIMIT:]):
        return True
    return bool(_OPENS_AS_QUESTION.match(sentences[0])) and not _NO_REQUEST.search(sentences[0])


def _asks(sentence: str) -> bool:
    bare = sentence.rstrip(_TRAILING)
    if bare.endswith(tuple(_MARKS)):
        return True
    return bool(_REQUESTS.search(bare.rstrip("。.!！:：…~～"))) and not _NO_REQUEST.search(bare)


def _sentences(text: str) -> list[str]:
    """The sentences of the end of a text, without a list of choices or a remark in brackets after them."""
    lines = text.strip()[-TEXT_LIMIT:].split("\n")
    kept = list(lines)
    while len(kept) > 1 and (not kept[-1].strip() or _LIST_LINE.match(kept[-1])):
        kept.pop()
    rest = "\n".join(kept).strip()
    rest = _REMARK.sub("", rest) or rest
    return [sentence.strip() for sentence in _SENTENCE.split(rest) if _SAYS_SOMETHING.search(sentence)]


def _declared(answer: Answer) -> tuple[bool | None, str | None]:
    completion = answer.completion
    if completion is not None and (completion.awaiting_input is not None or completion.input_hint):
        return completion.awaiting_input is not False, completion.input_hint
    for value in (answer.next, _object_in(answer.content)):
        if not isinstance(value, Mapping):
            continue
        hint = value.get("input_hint")
        hint = hint if isinstance(hint, str) and hint else None
        if isinstance(value.get("awaiting_input"), bool):
            return value["awaiting_input"], hint
        if hint:
            return True, hint
    return None, None


def _asking_tool(tools: Sequence[ToolUse], names: Sequence[str] | None) -> ToolUse | None:
    if not tools:
        return None
    from runner.assertions.tools import is_named

    wanted = INPUT_TOOLS if names is None else names
    return next((use for use in tools if any(is_named(use, name) for name in wanted)), None)


def _object_in(text: str) -> Mapping[str, Any] | None:
    """The object that a text is, code fence aside; None when it is anything else."""
    plain = behind_thinking(text).strip()
    if plain.startswith("```") and plain.endswith("```"):
        plain = plain[3:-3].removeprefix("json").strip()
    if not plain.startswith("{"):
        return None
    value = parsed(plain)
    return value if isinstance(value, dict) else None


def text_in(value: Any) -> str:
    """The text to the user in a value: a text, or the one in an object; empty when there is none."""
    if isinstance(value, Mapping):
        return next((said for key in _TEXTS if isinstance(said := value.get(key), str) and said.strip()), "")
    return value if isinstance(value, str) else ""


ROLES = ("Simulate",)
"""The functions that a script reference means which names none."""
NOTHING = "no message for the user"
NOT_NAMED = "no simulator is set. Set an agent or a script in simulator.use, or with --simulator"
_OWN = ("persona", "goal", "max_turns")
REPEATS = 3
"""From how many times on saying the same is worth a word."""


class SimulatorError(Exception):
    """The simulator could not be called, or gave no answer; the message says why."""

    def __init__(self, message: str, hint: str | None = None, infrastructure: bool = False) -> None:
        super().__init__(sentences(message, hint))
        self.infrastructure = infrastructure
        """Whether what it runs on broke, rather than the simulator."""


class SimulatedUser:
    """The simulator of one case."""

    def __init__(self, talk: Mode, simulator: Simulator | None, use: str) -> None:
        """`use` as in `simulator.use`; without a `simulator` it has neither persona nor goal."""
        self._talk = talk
        self._attempt = talk.attempt
        self.reference = simulator_reference(use)
        """Who plays the user; its text is empty when nobody is named."""
        options = {} if simulator is None else simulator.options.model_dump(exclude_unset=True)
        described = dict(options.pop("metadata", {}))
        if simulator is not None:
            described |= simulator.metadata
            described |= {key: value for key in _OWN if (value := getattr(simulator, key)) is not None}
        self._options = options
        self._own = {key: described.pop(key) for key in _OWN if described.get(key) is not None}
        self._extra = described
        self._last = ""
        self._times = 0

    @property
    def goal(self) -> Any:
        """The goal of the user; None when none is given."""
        return self._own.get("goal")

    @property
    def max_turns(self) -> int | None:
        """How many times the user may speak; None when nothing is said of it."""
        return self._own.get("max_turns")

    @property
    def remark(self) -> str | None:
        """A problem text if it repeats the same message; None if it does not."""
        if self._times < REPEATS:
            return None
        return f"The simulator repeats itself: {json.dumps(self._last, ensure_ascii=False)}, {self._times} times"

    async def find(self) -> None:
        """Looks whether it is there. Raises SimulatorError."""
        attempt = self._attempt
        environment = attempt.environment
        if attempt.saved is not None:
            return
        try:
            if not self.reference.text:
                raise SimulatorError(NOT_NAMED)
            if not self.reference.is_agent:
                await find_function(self.reference.text, ROLES, attempt.assistant.folder, environment.runtime)
            elif attempt.world.mocks is None or attempt.world.mocks.find("agent", self.reference.text) is None:
                environment.runtime.assistants.get(self.reference.text)
        except RunnerError as error:
            raise SimulatorError(error.message, error.hint, error.infrastructure) from error

    async def speak(self, max_turns: int, **checkpoints: list[str]) -> Simulation:
        """What the user says next in the conversation; `checkpoints_reached` and `checkpoints_pending` in dynamic mode.
        Raises SimulatorError."""
        if self._attempt.saved is not None:
            return self._attempt.saved.speak(len(self._talk.turns) < max_turns)
        answer = await self._ask(self._payload(max_turns) | checkpoints)
        found = json.dumps(answer, ensure_ascii=False)[:200]
        simulation = read_simulation(answer)
        if isinstance(simulation, Unclear):
            who, why = self.reference.text, simulation.why
            said = f"the answer of {who} cannot be evaluated, because {why}" if why else f"{who} answered {NOTHING}"
            raise SimulatorError(f"{said}: {found}")
        self._times = self._times + 1 if simulation.input == self._last else 1
        self._last = simulation.input
        return simulation

    def _payload(self, max_turns: int) -> dict[str, Any]:
        attempt = self._attempt
        turns = len(self._talk.turns)
        conversation = self._conversation()
        last = next((message for message in reversed(conversation) if message["role"] == "assistant"), None)
        payload: dict[str, Any] = {key: self._own[key] for key in ("persona", "goal") if key in self._own}
        payload |= {
            "conversation": conversation,
            "last_response": last["content"] if last else "",
            "turn_number": turns + 1,
            "turn_count": turns,
            "max_turns": max_turns,
            "tool_results": tool_results(attempt.chat),
            "test_mode": "simulator",
            "test_id": attempt.case.id,
            "session_id": attempt.chat.id,
        }
        return {**payload, "extra": self._extra} if self._extra else payload

    def _conversation(self) -> list[dict[str, str]]:
        """The conversation as the user sees it: with the text in Next's data rather than that of the model."""
        said = [message for message in self._talk.transcript if message["role"] in ("user", "assistant")]
        answers = [turn for turn in self._talk.turns if turn.status != Status.SKIPPED and turn.error is None]
        heard = [{"role": message["role"], "content": plain_text(message.get("content"))} for message in said]
        of_agent = [message for message in heard if message["role"] == "assistant"]
        for message, turn in zip(reversed(of_agent), reversed(answers), strict=False):
            message["content"] = text_in(turn.output) or message["content"]
        return heard

    async def _ask(self, payload: dict[str, Any]) -> Any:
        attempt = self._attempt
        try:
            if not self.reference.is_agent:
                return await attempt.judges.call_script(self.reference.text, ROLES, [payload])
            options = {**self._options, "metadata": self._extra}
            runtime, id = attempt.environment.runtime, self.reference.text
            answer = await ask_helper(runtime, id, "simulator", payload, options, attempt.chat)
            return answer.output
        except NotEvaluated as error:
            raise SimulatorError(str(error), infrastructure=error.infrastructure) from error
        except (AgentError, RunnerError, ScriptError) as error:
            raise SimulatorError(error.message, error.hint, getattr(error, "infrastructure", False)) from error


def tool_results(chat: Chat) -> dict[str, Any]:
    """Tool → its last result in a chat, JSON texts as values; `{error}` when it failed."""
    return {use.name: {"error": use.error} if use.error is not None else _value(use.result) for use in chat.uses}


def plain_text(content: Any) -> str:
    """The content of a message as text; what is none is named in brackets."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "\n".join(
        str(part.get("text", f"[{part.get('type')}]")) if isinstance(part, Mapping) else str(part) for part in content
    )


def _value(result: Any) -> Any:
    return parsed(result, result) if isinstance(result, str) and result[:1] in ("{", "[") else result
