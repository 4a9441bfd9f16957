"""The models that Yao brings along: those that agents use with their columns, the others by name alone."""

from __future__ import annotations

import re

from bindings.models.definition import Model, read_definition
from scripttest.typing_names import Json

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
