"""What the words of a command line mean that are no flags: `desk "Hello"`, `assistants/desk`, `watch`, `eval desk`.

Known words win over agents of their names, and these over files; `-n test` and `./test` reach those.
Flags of other test tools are recognised by the table of `scripttest.habits`, with how to write them here."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from shlex import join

from runner.application.application import AgentFolder, Application
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import FLAGS, RunOptions
from runner.planning.inputs import is_generator, resolve_application
from scripttest import filled, habit, row_of
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.flags import Flag


VERBS = ("run", "test", "eval", "watch")
"""First words that mean the run itself."""
AGENT = "agent"
"""Before a verb, or `extract`: as Yao has it."""
_BY_SPELLING = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
_MODULE_FLAGS = ("-s", "--scripts")
"""As Yao names a test module of an agent."""
_HELP, _ALL = ("-h", "--help"), "all"
_TREE = "/..."
"""Behind a folder, as Go names all that is below it."""


class Token(Value):
    """A flag with its value, or a word."""

    words: tuple[str, ...]
    is_flag: bool = False

    @property
    def text(self) -> str:
        """The word, or the spelling of the flag."""
        return self.words[0]


def meant(arguments: Sequence[str], environment: Environment, commands: Collection[str]) -> list[str]:
    """The line with flags and values only, or that of a command. Raises ConfigurationError for unknown words."""
    tokens = list(tokens_of(arguments))
    line = _Line(tokens, environment, commands)
    words = [token for token in tokens if not token.is_flag]
    if words[:1] and words[0].text == AGENT and words[1:] and words[1].text in (*VERBS, "extract"):
        tokens.remove(words.pop(0))
    first = words[0].text if words else ""
    if words[:1] != tokens[:1] or first not in commands:
        refuse_habits(arguments, line.has_agent)
    if first in commands:
        return [first, *(word for token in tokens if token is not words[0] for word in token.words)]
    if first == "help" or any(token.is_flag and token.text in _HELP for token in tokens):
        named = [word.text for word in words if word.text in (_ALL, *commands)]
        asked = [named[0], "--help"] if named and named[0] != _ALL else ["--help", *named]
        return asked + [word for word in arguments if word.partition("=")[0] == "--json"]
    if first in VERBS:
        tokens.remove(words[0])
        del words[0]
    return [*line.plain(words), *(["--watch"] if first == "watch" and "--watch" not in arguments else [])]


def tokens_of(arguments: Sequence[str]) -> Iterator[Token]:
    """The flags with their values, and the words between them. What follows `--` is words."""
    rest = deque(arguments)
    while rest:
        word = rest.popleft()
        if word == "--":
            yield from (Token(words=(one,)) for one in rest)
            return
        if not word.startswith("-"):
            yield Token(words=(word,))
        elif rest and _takes(word, rest[0]):
            yield Token(words=(word, rest.popleft()), is_flag=True)
        else:
            yield Token(words=(word,), is_flag=True)


def _takes(word: str, next: str) -> bool:
    flag = _BY_SPELLING.get(word)
    if flag is None and not word.startswith("--"):  # several letters, as in -vn desk
        for at, letter in enumerate(word[1:], 2):
            flag = _BY_SPELLING.get(f"-{letter}")
            if flag is None or flag.kind not in ("switch", "count"):
                flag = flag if at == len(word) else None
                break
    if word in _MODULE_FLAGS:
        return not next.startswith("-")
    if flag is None or flag.kind in ("switch", "count"):
        return False
    if flag.kind in ("text", "repeated"):
        return True
    return not next.startswith("-") and flag.may_be(next)


class _Line:
    """A command line without its verb."""

    def __init__(self, tokens: Sequence[Token], environment: Environment, commands: Collection[str]) -> None:
        self._tokens = tokens
        self._environment = environment
        self._directory = environment.directory
        self._commands = commands
        self._known: Application | None = None

    @property
    def _application(self) -> Application | None:
        """The application in which agents are looked for; None without one."""
        if self._known is None:
            named = self._value("-a", "--app") or self._variables.get("YAO_ROOT")
            try:
                self._known = resolve_application(RunOptions(app=named or None), self._directory)
            except ConfigurationError:
                if named:
                    raise
        return self._known

    @property
    def _variables(self) -> Mapping[str, str]:
        files = self._values("-e", "--env-file")
        if not files:
            return self._environment.variables
        from runner.application.context import with_files

        return with_files(self._environment, files).variables

    def plain(self, words: Sequence[Token]) -> list[str]:
        """The command line with flags only. `words` are the tokens that are no flags."""
        agent, message = self._agent_and_message([token.text for token in words])
        agent = agent or self._value("-n", "--name")
        if not agent and len(words) == 1 and (alone := self._agent(words[0].text)) is not None:
            agent = alone.id
        plain: list[str] = []
        for before, token in pairwise((Token(words=("",)), *self._tokens)):
            spelling, _, value = token.text.partition("=")
            if spelling in _MODULE_FLAGS:
                plain += ["-i", _module(token, value or "".join(token.words[1:]), agent)]
            elif token.is_flag:
                plain += token.words
            elif token is words[0] and agent and message is not None:
                plain += ["-n", agent]
            elif message is not None:
                plain += ["-i", _path(message) if self._is_input(message) else message]
            else:
                plain += self._input(token.text, before, alone=len(words) == 1)
        return plain

    def has_agent(self, id: str) -> bool:
        """Whether there is an agent of this id."""
        return self._agent(id) is not None

    def _agent_and_message(self, words: Sequence[str]) -> tuple[str, str | None]:
        """The agent and its message, if words are these. Raises ConfigurationError for words without quotes."""
        if len(words) < 2:
            return "", None
        first, second, *more = words
        folder = self._folder_of_agent(first)
        agent = folder or self._agent(first)
        if agent is None:
            return "", None
        if more or folder is not None:
            others = [word for word in words[1:] if not self._names(word)]
            if others and more:
                flags = [word for token in self._tokens if token.is_flag for word in token.words]
                line = join([first, " ".join(words[1:]), *flags])
                named = join(words)[:60]
                raise ConfigurationError(
                    f"Cannot run {named}: quote messages that contain spaces", f"Type: yao-test {line}"
                )
            return (agent.id, second) if others else ("", None)
        return agent.id, second

    def _names(self, word: str) -> bool:
        return self._is_input(word) or self._agent(word) is not None

    def _is_input(self, word: str) -> bool:
        path = _path(word)
        is_named = word.startswith("scripts.") or is_generator(word)
        return bool(path) and (is_named or os.path.exists(self._directory / Path(path).expanduser()))

    def _agent(self, word: str) -> AgentFolder | None:
        if self._application is None or "/" in word or any(map(str.isspace, word)) or len(word) > 200:
            return None
        found = self._application.agent_of_id(word)
        return found or self._application.agent_of_id(word.removeprefix("assistants."))

    def _folder_of_agent(self, word: str) -> AgentFolder | None:
        place = self._directory / Path(_path(word)).expanduser()
        if self._application is None or not os.path.isfile(place / "package.yao"):
            return None
        return self._application.agent_of(place.resolve())

    def _input(self, word: str, before: Token, alone: bool) -> list[str]:
        """The flags for a word that names an agent, or what `-i` takes; `before` stands before it. Raises
        ConfigurationError."""
        if word and self._folder_of_agent(word) is None and (agent := self._agent(word)) is not None:
            by_name = alone and not self._value("-n", "--name")
            return ["-n", word] if by_name else ["-i", os.path.relpath(agent.folder, self._directory)]
        if self._is_input(word):
            return ["-i", _path(word)]
        is_text = not word or any(map(str.isspace, word))
        is_text = is_text or bool(self._value("-n", "--name") and "/" not in word)
        flag = _BY_SPELLING.get(before.text)
        is_meant = not is_text or "://" in "".join(word.split()[:1])
        if is_meant and flag is not None and flag.kind == "maybe" and flag.read is not None and not before.words[1:]:
            flag.read(word, before.text)  # says what it takes
        is_whole = "=" not in before.text if before.text.startswith("--") else len(before.text) == 2
        if is_text or (before.is_flag and flag is None and is_whole):  # of an unknown flag it may be the value
            return ["-i", word]
        raise self._unknown(word)

    def _unknown(self, word: str) -> ConfigurationError:
        from runner.planning.names import closest, missing_path_hint

        application = self._application
        if "/" in word or "::" in word or os.path.splitext(word)[1]:
            hint = missing_path_hint(word, self._directory, application)
            return ConfigurationError(f'Cannot run "{word[:60]}": there is no such file or folder', hint)
        modules = [module.id for module in application.modules()] if application is not None else []
        named = [id for id in modules if id.rpartition(".")[2] == word]
        if not named and (line := habit("command", word)):
            rest = [one for token in self._tokens if token.text != word for one in token.words]
            return ConfigurationError(f'Unknown command "{word}"', f"Type: {' '.join([line, join(rest)]).strip()}")
        agents = [agent.id for agent in application.agents()] if application is not None else []
        near = named[:1] or [closest(word, [*self._commands, *VERBS, *agents, *modules]) or ""]
        if near == [""]:
            near = [closest(word, os.listdir(self._directory)) or ""]
        hint = "Pass a file, a folder, an agent or scripts.<agent>.<module>; yao-test --help lists the commands"
        if re.match(r"(Test|Bench|Fuzz)[A-Z\d_]", word):
            flag = {"B": "--bench", "F": "--fuzz"}.get(word[0], "--run")
            near, hint = [""], f"Type: yao-test {flag} {word}"
        return ConfigurationError(
            f'Cannot run "{word[:60]}": no command, agent, file or folder has that name',
            f'Did you mean "{near[0]}"?' if near[0] else hint,
        )

    def _value(self, *spellings: str) -> str:
        return next(iter(self._values(*spellings)), "")

    def _values(self, *spellings: str) -> list[str]:
        flags = [(token, *token.text.partition("=")) for token in self._tokens if token.is_flag]
        return [value or "".join(token.words[1:]) for token, spelling, _, value in flags if spelling in spellings]


def _path(word: str) -> str:
    """The path that a word may be: of `./...`, as Go has it, the folder."""
    if word == _TREE.strip("/"):
        return "."
    return word.removesuffix(_TREE).removeprefix("@") if "\0" not in word else ""


def _module(token: Token, module: str, agent: str) -> str:
    """The input of `-s MODULE`, as Yao has it. Raises ConfigurationError when no agent or module is named."""
    flag = token.text.partition("=")[0]
    if not module:
        raise ConfigurationError(f"{flag} needs a test module", f"Type: {flag} MODULE")
    if module.startswith("scripts."):
        return module
    if not agent:
        raise ConfigurationError(
            f"Cannot tell to which agent the test module {module} belongs",
            f"Type: yao-test -i scripts.<agent>.{module}",
        )
    return f"scripts.{agent.removeprefix('assistants.')}.{module}"


_VALUE = "<value>"
_DROPPED = "<->"
"""Stands in a line of the table for a value that is not written."""
_UPDATE = "--update-snapshots"
_OF_GO = "-test."
"""Before flags of a test binary of Go."""


def refuse_habits(arguments: Sequence[str], is_agent: Callable[[str], bool]) -> None:
    """Raises ConfigurationError with the command line to use instead, when a flag of another tool is among the
    arguments, or one of this tool with a value of another one. `is_agent` tells of ids."""
    words: list[str] = []
    foreign: list[str] = []
    reasons: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += [word, *rest]
            break
        spelling, equals, value = word.partition("=")
        flag = _BY_SPELLING.get(spelling)
        takes = flag is not None and flag.kind in ("text", "repeated")
        value = rest[0] if takes and not equals and rest else value
        row = _row(spelling, bool(equals)) if flag is None else _row_of_value(flag, value, is_agent)
        if row is None:
            words += [word, *(rest[:1] if takes and not equals else [])]
            del rest[: takes and not equals]
            continue
        line, _, numbered = row[0].partition(" | ")
        needs_value = _VALUE in line or _DROPPED in line
        if not equals and (needs_value or (numbered and rest and rest[0].isdecimal())):
            value = rest.pop(0) if rest else ""
        foreign.append(spelling if flag is None or _UPDATE in line else f"{spelling} {value}")
        reasons += [row[1]] if row[1] else []
        written = _written(numbered if numbered and value.isdecimal() and value != "1" else line, value, arguments)
        words += written[written[:1] != ["--output"] and written[:1] in [[one] for one in words] :]
    if foreign:
        why = f": {reasons[0]}" if reasons else ""
        raise ConfigurationError(f"Unknown flag {foreign[0]}{why}", f"Type: {join(['yao-test', *words])}")


def _row_of_value(flag: Flag, value: str, is_agent: Callable[[str], bool]) -> tuple[str, str] | None:
    """What to write for a flag of this tool with a value that it has in another one: `-u`, `-n 4`, `--reporter dot`."""
    if flag.name == "user" and (not value or value.startswith("-")):
        return _UPDATE, ""
    if flag.name == "name" and (value.isdecimal() or value in ("auto", "logical")) and not is_agent(value):
        return f"--parallel {_VALUE}", ""
    if flag.name == "reporter" and not is_agent(value) and (row := row_of("reporter", value)):
        return f"{row[0]} {_DROPPED}", row[1]
    return None


def _row(spelling: str, equals: bool) -> tuple[str, str] | None:
    """What to write for a flag of another tool, and why; None for an unknown one, and for what is no flag."""
    if not spelling.startswith("-"):
        return None
    short = spelling.removeprefix(_OF_GO)
    if short != spelling:
        spelling = f"-{short}"
    kebab = (
        re.sub(r"(?<=[a-z])([A-Z])", r"-\1", spelling).replace("_", "-").lower() if spelling[:2] == "--" else spelling
    )
    row = row_of("flag", spelling) or row_of("flag", kebab)
    named = _BY_SPELLING.get(f"-{kebab}" if len(kebab) > 2 and kebab[:2] != "--" else kebab)
    if row is None and named is not None:
        takes = named.kind not in ("switch", "count") and (named.kind in ("text", "repeated") or equals)
        return f"--{named.name}" + f" {_VALUE}" * bool(takes), ""
    return row


def _written(line: str, value: str, arguments: Sequence[str]) -> list[str]:
    """The words of a line of the table. A value that its flag cannot have, or has anyway, is left out."""
    flag = _BY_SPELLING.get(line.partition(" ")[0])
    named = value or (flag.metavar if flag is not None else "")
    words = [filled(word, value=named) for word in line.split() if word != _DROPPED]
    measured = any(word.lstrip("-").startswith("bench") for word in arguments)
    if words[:1] == ["--runs"] and measured:
        words[0] = "--count"
    if flag is None or flag.read is None or _VALUE not in line or len(words) != 2 or not value:
        return words
    try:
        read = flag.value({flag.field: (words[1],) if flag.kind == "repeated" else words[1]})
    except ConfigurationError:
        return []
    return words if read != flag.default else []
