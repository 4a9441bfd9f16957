"""JSON Web Tokens and passwords: `utils.jwt.`, `utils.pwd.`.

Tokens are HS256 with the claims of Yao. The secret is the environment variable `YAO_JWT_SECRET` when the policy shows
it to scripts, else a fixed one: tokens made here are for tests.
"""

from __future__ import annotations

from typing import Any

from bindings.errors import ProcessError
from bindings.processes import formats
from bindings.processes.arguments import Arguments
from bindings.processes.go_text import display
from bindings.services import HostCall
from scripttest.typing_names import Json

_HEADER = {"alg": "HS256", "typ": "JWT"}


def make_jwt(given: Arguments, call: HostCall) -> Json:
    """`jwt.Make(id, data, {subject, audience, issuer, timeout, sid, expires_at}?)`: `{token, expires_at}`.

    `timeout` is in seconds (3600 by default), `expires_at` in Unix seconds.
    """
    number, data, option = given.integer(1), given.record(2), given.record(3, {})
    now = int(call.world.clock.seconds)
    times = Arguments(given.process, [option.get("timeout"), option.get("expires_at")])
    expires_at = times.integer(2, now + times.integer(1, 3600))
    claims = {
        "id": number,
        "sid": display(option.get("sid") or call.authorized.get("session_id") or ""),
        "data": data,
        "aud": display(option.get("audience", "Yao Process utils.jwt.Make")),
        "exp": expires_at,
        "jti": str(number),
        "iat": now,
        "iss": display(option.get("issuer", f"xiang:{number}")),
        "nbf": now,
        "sub": display(option.get("subject", "User Token")),
    }
    signed = ".".join(_part(formats.encode_json(part).encode()) for part in (_HEADER, claims))
    return {"token": f"{signed}.{_part(_signature(signed, call))}", "expires_at": expires_at}


def verify_jwt(given: Arguments, call: HostCall) -> Json:
    """`jwt.Verify(token)`: the claims.

    Raises:
        ProcessError: code 401 when the token is malformed, signed otherwise, not valid yet or no longer.
    """
    from hmac import compare_digest

    token = given.string(1)
    invalid = ProcessError("Invalid token", 401)
    parts = token.split(".")
    if len(parts) != 3:
        raise invalid
    try:
        header, claims = (formats.decode_json(_unpart(part).decode()) for part in parts[:2])
        signature = _unpart(parts[2])
    except ValueError as error:
        raise invalid from error
    if not isinstance(header, dict) or header.get("alg") != "HS256" or not isinstance(claims, dict):
        raise invalid
    if not compare_digest(signature, _signature(f"{parts[0]}.{parts[1]}", call)):
        raise invalid
    now = call.world.clock.seconds
    if not _number(claims.get("nbf", 0)) <= now < _number(claims.get("exp", now + 1)):
        raise invalid
    return claims


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _signature(signed: str, call: HostCall) -> bytes:
    import hmac

    secret = call.policy.environment.get("YAO_JWT_SECRET") or "yao-test"
    return hmac.new(secret.encode(), signed.encode(errors="replace"), "sha256").digest()


def _part(value: bytes) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(value).rstrip(b"=").decode()


def _unpart(text: str) -> bytes:
    from base64 import b64decode

    return b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def verify_password(given: Arguments, call: HostCall) -> Json:
    """`pwd.Verify(password, hash)`: true; a bcrypt hash of another password is an error with code 400, as in Yao."""
    password, hashed = given.string(1).encode(), given.string(2).encode()
    try:
        import bcrypt
    except ImportError as error:
        raise given.needs("bcrypt", "crypto") from error
    try:
        fits = bcrypt.checkpw(password[:72], hashed)
    except ValueError as error:
        raise given.error("argument 2 is not a bcrypt hash") from error
    if not fits:
        raise ProcessError("Invalid password.", 400)
    return True
