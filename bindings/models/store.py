"""What processes of models work on: the models of an application, with those that Yao brings along, and the database
of one test; and the tables of their methods, which say how many arguments each needs, what they are, and what
answers it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping

from bindings.errors import ProcessError, bad, failed
from bindings.models.database import Database
from bindings.models.definition import Model, read_definition
from scripttest.typing_names import Json


class UnknownColumnsError(ProcessError):
    """Rows are asked for of a built-in model of which only the name is known; `model` is its id."""

    def __init__(self, asked: str, model: str) -> None:
        """`asked` names the caller."""
        super().__init__(f"{asked}: the columns of {model} are not known, only its name", 404, missing=True)
        self.model = model


class Catalog:
    """All models, by id. Each test has its own catalog, because scripts can load and unload models."""

    def __init__(self, models: Mapping[str, Model], refused: Mapping[str, str] | None = None) -> None:
        """`refused` are the ids of models whose files cannot be read, each with its error."""
        self.models = dict(models)
        """By id, as it is written."""
        self._refused = {id.lower(): problem for id, problem in (refused or {}).items()}

    def copy(self) -> Catalog:
        """The same models, for another test."""
        return Catalog(self.models, self._refused)

    def get(self, id: str) -> Model:
        """The model of an id, be it written in capitals or not. Raises ProcessError."""
        found = self.find(id)
        if found is None:
            raise self.missing(id)
        return found

    def missing(self, id: str) -> ProcessError:
        """The error of somebody who asks for a model that is not there."""
        if id.lower() in self._refused:
            return failed(self._refused[id.lower()])
        return ProcessError(f"Model:{id}; not found", 400, missing=True)

    def with_columns(self, id: str, asked: str) -> Model:
        """The same, for callers that read rows; `asked` names the caller. Raises ProcessError, also if only the name
        of the model is known."""
        model = self.get(id)
        if not model.has_columns:
            raise UnknownColumnsError(asked, model.id)
        return model

    def find(self, id: str) -> Model | None:
        """The model of an id, be it written in capitals or not; None when there is none."""
        if id in self.models:
            return self.models[id]
        return next((model for name, model in self.models.items() if name.lower() == id.lower()), None)

    def all(self) -> list[Model]:
        """All models by id."""
        return [self.models[id] for id in sorted(self.models)]


class Store:
    """The models and the database that processes of models work on. The database is to be closed."""

    def __init__(
        self,
        catalog: Catalog,
        database: Database,
        warn: Callable[[str], None],
        *,
        load: Callable[[str, str | None], tuple[str, Json, str]] | None = None,
        strict: bool = False,
        salt: Callable[[], bytes] = lambda: os.urandom(16),
    ) -> None:
        """Opens nothing.

        Args:
            catalog: the models.
            database: has their tables.
            warn: called with warnings about things that do not work as they are written.
            load: `(file below the application, its text or None)` → `(name of the file, document, text)`.
            strict: whether to refuse what MySQL would refuse.
            salt: returns 16 random bytes for the hash of a password."""
        self.catalog = catalog
        self.database = database
        self.warn = warn
        self.load = load
        self.strict = strict
        self.salt = salt
        self.checked: set[str] = set()
        """Ids of models whose rules were looked at."""


Method = tuple[int, str, Callable[..., Json]]
"""The least number of arguments; a word for each of them, with the default after `=`; and the function that is called
with them. A word is a kind that `_converted` knows, or `process`, which is replaced by the name of the process."""


def method_of(methods: Mapping[str, Method], process: str, group: str) -> Method:
    """The method that a process names, in any case; `group` is what it belongs to. Raises ProcessError."""
    name = process.rpartition(".")[2]
    found = methods.get(name.lower())
    if found is None:
        raise no_method(process, f"{group}.{name}")
    return found


def no_method(process: str, name: str) -> ProcessError:
    """The error of a call of a method that is not there."""
    return ProcessError(f"{process} Handler -> {name} not found", 404, missing=True)


def arguments(method: Method, process: str, values: list[Json]) -> Iterator[Json]:
    """What the function of a method is called with. Raises ProcessError when arguments are missing or wrong."""
    least, form, _ = method
    needs(process, values, least)
    place = 0
    for word in form.split():
        kind, has_default, default = word.partition("=")
        if kind == "process":
            yield process
            continue
        value = values[place] if place < len(values) else None
        place += 1
        if value is None and has_default:
            value = {} if kind == "record" else default
        try:
            yield _converted(kind, value)
        except (TypeError, ValueError, OverflowError) as error:
            expected = "a number" if kind == "whole" else error
            raise bad(f"{process}: argument {place} must be {expected}") from None


def needs(process: str, values: list[Json], least: int) -> None:
    """Raises ProcessError when there are fewer arguments."""
    if len(values) < least:
        raise bad(f"{process} Missing parameters, {least} parameters are required")


def _converted(kind: str, value: Json) -> Json:
    """An argument as a kind of it; `any` is left as it is. Raises ValueError with what it must be."""
    if kind == "record" and not isinstance(value, Mapping):
        raise ValueError("an object")
    if kind in ("array", "names", "rows") and not isinstance(value, list):
        raise ValueError("an array")
    if kind == "rows" and not all(isinstance(row, list) for row in value):
        raise ValueError("an array of arrays")
    if kind == "names":
        return [str(name) for name in value]
    if kind == "options":
        return value if isinstance(value, Mapping) else {}
    if kind == "whole":
        return int(float(value))
    return str(value) if kind == "text" else value


_USED = {
    "role": (
        "role_id!, name, description? text, permissions? json, restricted_permissions? json, parent_role_id?,"
        " level? integer=0, is_active boolean=true, is_default boolean=false, is_system boolean=false,"
        " sort_order? integer=0, color?, icon?, max_users? integer=0, requires_approval boolean=false,"
        " auto_revoke_days? integer=0, metadata? json, conditions? json"
    ),
    "user": (
        "user_id!, preferred_username!?, email!?, email_verified? boolean=false, name?, given_name?, family_name?,"
        " middle_name?, nickname?, profile?, picture?, website?, gender?, birthdate?, zoneinfo?, locale?,"
        " phone_number?, phone_number_verified? boolean=false, address? json, theme?=auto, metadata? json,"
        " password_hash? PASSWORD, status enum=pending, role_id?, type_id?, mfa_enabled boolean=false, mfa_secret? AES,"
        " mfa_issuer?, mfa_algorithm? enum=SHA256, mfa_digits? integer=6, mfa_period? integer=30, mfa_recovery_hash?,"
        " mfa_enabled_at? timestamp, last_login_at? timestamp, last_login_ip?, last_login_user_agent?,"
        " last_login_device?, last_login_platform?, mfa_last_verified_at? timestamp, password_changed_at? timestamp"
    ),
    "user.type": (
        "type_id!, name, description? text, default_role_id?, schema? json, metadata? json, is_active boolean=true,"
        " is_default boolean=false, sort_order? integer=0, status enum=draft, locale=en-us, price_daily? integer,"
        " price_monthly? integer, price_yearly? integer, credits_monthly? integer, introduction? text,"
        " sale_type? enum=online, sale_link?, sale_price_label?, sale_description?, max_sessions? integer,"
        " session_timeout? integer=0, password_policy? json, features? json, limits? json"
    ),
    "team": (
        "team_id!, name, display_name?, description? text, website?, logo?, owner_id, contact_email?, contact_phone?,"
        " is_verified boolean=false, verified_at? timestamp, verified_by?, team_code!?, team_code_type?,"
        " status enum=pending, role_id?, type_id?, type? enum, address? json, street_address?, city?, state_province?,"
        " postal_code?, country?, country_name?, region?, zoneinfo?, settings? json, metadata? json"
    ),
    "member": (
        "member_id!, team_id, user_id?, member_type enum=user, display_name?, bio? text, avatar?, email?, role_id,"
        " is_owner boolean=false, status enum=pending, system_prompt? text, manager_id?, robot_email!?,"
        " authorized_senders? json, email_filter_rules? json, robot_config? json, agents? json, mcp_servers? json,"
        " language_model?, workspace?, cost_limit? decimal, autonomous_mode boolean=false,"
        " last_robot_activity? timestamp, robot_status? enum=idle, invitation_id!?, invited_by?,"
        " invited_at? timestamp, joined_at? timestamp, invitation_token!?, invitation_expires_at? timestamp,"
        " last_active_at? timestamp, login_count? integer=0, notes? text, metadata? json"
    ),
    "invitation": (
        "code!, owner_id?, used_by?, used_at? timestamp, status enum=draft, is_published boolean=false,"
        " published_at? timestamp, expires_at? timestamp, code_type enum=official, description? text, source?,"
        " metadata? json"
    ),
}
"""Id behind `__yao.` → columns (`!` unique, `?` null is allowed, `=` default). They have all of `_OPTIONS`."""
_LISTED = """
    user.oauth_account:TSP attachment:TP config:T dsl:TP audit:T agent.chat:TSP agent.message:TS agent.assistant:TP
    agent.resume:TS agent.search:TS agent.task:TSP agent.board:TSP agent.mail:TSP agent.board.column:TSP
    agent.execution:TP agent.schedule_log: job:TP job.category:TP job.execution:TP job.log:TP kb.collection:TSP
    kb.document:TSP
"""
"""Ids behind `__yao.`, each with its options."""
_TABLES = {"invitation": "invitation_code", "audit": "audit_log"}
"""Id → the name of its table, where that is not made of the id."""
_ENUMS = {
    "user.status": "pending pending_invite active disabled suspended locked password_expired email_unverified archived",
    "user.mfa_algorithm": "SHA1 SHA256 SHA512",
    "team.status": "pending active inactive suspended archived",
    "team.type": "corporation llc partnership sole_proprietorship nonprofit government educational other",
    "member.member_type": "user robot",
    "member.status": "pending active inactive suspended",
    "member.robot_status": "idle working paused error maintenance",
    "user.type.status": "draft published archived",
    "user.type.sale_type": "online offline",
    "invitation.status": "draft active used expired revoked suspended",
    "invitation.code_type": "official beta partner promotional custom",
}
_INDEXES = {
    "member": [
        {"name": "team_user", "columns": ["team_id", "user_id"], "type": "unique"},
        {"name": "team_invitation", "columns": ["team_id", "invitation_id"], "type": "unique"},
    ]
}
_OPTIONS = {"T": "timestamps", "S": "soft_deletes", "P": "permission"}
_COLUMN = re.compile(r"(?P<name>\w+)(?P<marks>[!?]*)(?: (?P<type>\w+))?(?:=(?P<default>\S+))?")


def built_in_models(prefix: str = "yao_") -> list[Model]:
    """All of them. The names of their tables begin with `prefix`."""
    used = [
        _model(id, prefix, "TSP", [_column(id, text.strip()) for text in columns.split(",")])
        for id, columns in _USED.items()
    ]
    listed = [_model(id, prefix, options, []) for id, _, options in (one.partition(":") for one in _LISTED.split())]
    return used + [model.replace(has_columns=False) for model in listed]


def _model(id: str, prefix: str, options: str, columns: list[dict[str, Json]]) -> Model:
    document = {
        "name": id.replace(".", " ").replace("_", " ").title(),
        "table": {"name": prefix + _TABLES.get(id, id.replace(".", "_"))},
        "columns": [{"name": "id", "type": "ID", "label": "ID"}, *columns],
        "indexes": _INDEXES.get(id, []),
        "option": {_OPTIONS[letter]: True for letter in options},
    }
    return read_definition(f"__yao.{id}", f"/yao/models/{id.replace('.', '/')}.mod.yao", document)


def _column(id: str, text: str) -> dict[str, Json]:
    found = _COLUMN.fullmatch(text)
    assert found is not None, text
    name, marks, given = found["name"], found["marks"], found["type"] or "string"
    column: dict[str, Json] = {"name": name, "type": given, "nullable": "?" in marks}
    if "!" in marks:
        column["unique"] = True
    if given in ("PASSWORD", "AES"):
        column |= {"type": "string", "crypt": given}
    if given == "enum":
        column["option"] = _ENUMS[f"{id}.{name}"].split()
    if found["default"] is not None:
        column["default"] = _default(found["default"])
    return column


def _default(text: str) -> Json:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text
