"""How often a case runs: the field `repeat` of its file, as a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.cases.problems import Finding

if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.statistics.policies import Policy


def repeat_of(case: Case) -> Any:
    """The policy of a case, as written in its file; None if it has none."""
    repeat = case.repeat
    if repeat is None or isinstance(repeat, str):
        return repeat
    said = repeat.model_dump(exclude_defaults=True)
    return {"pass" if key == "wanted" else key: value for key, value in said.items()}


def policy_of(written: Any) -> Policy | None:
    """The policy that a case, or `--repeat`, says; it was checked before."""
    if written is None:
        return None
    from runner.statistics.policies import read_policy

    return read_policy(written)


def problem_of_repeat(case: Case) -> Finding | None:
    """What is wrong with the policy of a case."""
    from runner.statistics.policies import PolicyError, read_policy

    written = repeat_of(case)
    if getattr(case, "trials", 1) > 1:
        return Finding(
            path=("repeat",),
            text='"repeat" and "trials" cannot be used together',
            hint="Runs of a case have their own chats",
        )
    try:
        read_policy(written)
    except PolicyError as error:
        shown = f' "{written}"' if isinstance(written, str) else ""
        return Finding(path=("repeat",), text=f"cannot read repeat{shown}: {error}", hint=error.hint)
    return None
