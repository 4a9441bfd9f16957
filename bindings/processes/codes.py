"""`utils.captcha.*`, `utils.otp.*`: codes for a person to type, which are stored under an id for a while; `utils.jwt.*`
and `utils.pwd.*`: JSON Web Tokens and passwords.

A code belongs to its test: its digits come from the random numbers of the test, and it expires by the clock of the
test.

Differences from Yao: pictures are plain digits that are easy to read, there is no audio, and `expiration` of
`otp.Generate` is respected.

Tokens are HS256 with the claims of Yao. The secret is the environment variable `YAO_JWT_SECRET` when the policy shows
it to scripts, else a fixed one: tokens made here are for tests."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes import formats
from bindings.processes.arguments import Arguments, Row, display
from scripttest.typing_names import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random


CODES_KEY = "\0codes"
"""Where `call.world.session` keeps them: `kind and id → (code, seconds since 1970 at which it ends)`; `session.*` does
not show keys with a NUL."""
SECONDS = 600
"""How long a code is valid by default."""
LENGTH = 6
MOST_LETTERS = 64
MOST_SECONDS = 10 * 365 * 86400
MOST_PIXELS = 2000
_ID_LENGTH = 20
_GLYPHS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717")
"""Each digit as five rows of three pixels, a row as the number that its bits make."""
_HEADER = {"alg": "HS256", "typ": "JWT"}


def _make_captcha(given: Arguments, call: HostCall, option: dict[str, Json]) -> Json:
    """`captcha.Make({width?, height?, length?, type?})`: `{id, content}`, a picture of digits as a data URL."""
    if option.get("type") == "audio":
        mock = call.world.mock("process", given.process)
        text = f"{given.process}: audio is not supported, only images: mock it with {mock}"
        raise ProcessError(text, 500, missing=True)
    width = _whole(given, option, "width", 240, MOST_PIXELS)
    height = _whole(given, option, "height", 80, MOST_PIXELS)
    text = _draw(call, string.digits, _whole(given, option, "length", LENGTH, MOST_LETTERS))
    id = _draw(call, string.ascii_letters + string.digits, _ID_LENGTH)
    _keep(call, "captcha", id, text, SECONDS)
    return {"id": id, "content": _picture(text, width, height)}


def _verify_captcha(call: HostCall, id: str, code: str) -> Json:
    """`captcha.Verify(id, code)`: true, or an error. The code is removed in any case."""
    if not code:
        raise ProcessError("Please enter the captcha.", 400)
    typed = code.replace(" ", "").replace(",", "")
    if not typed or _find(call, "captcha", id, forget=True) != typed:
        raise ProcessError("Invalid captcha.", 400)
    return True


def _make_otp(given: Arguments, call: HostCall, option: dict[str, Json]) -> Json:
    """`otp.Generate({length?, expiration? (seconds), type?: "numeric" | "alphanumeric"})`: `{id, code}`."""
    letters = string.ascii_uppercase + string.digits if option.get("type") == "alphanumeric" else string.digits
    code = _draw(call, letters, _whole(given, option, "length", LENGTH, MOST_LETTERS))
    id = random_uuid(call)
    _keep(call, "otp", id, code, _whole(given, option, "expiration", SECONDS, MOST_SECONDS))
    return {"id": id, "code": code}


def _validate_otp(call: HostCall, id: str, code: str, forget: bool) -> Json:
    """`otp.Validate(id, code, clear = true)`: true, or an error. The code is removed in any case, unless `clear`
    is false."""
    if not code:
        raise ProcessError("OTP code is required", 400)
    if _find(call, "otp", id, forget=forget) != code:
        raise ProcessError("Invalid or expired OTP code", 400)
    return True


def _delete_otp(call: HostCall, id: str) -> None:
    _find(call, "otp", id, forget=True)


def _whole(given: Arguments, option: Mapping[str, Json], name: str, default: int, most: int) -> int:
    value = option.get(name)
    if value in (None, 0):
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
        raise given.error(f"{name} must be a whole number from 1 to {most}, got {value}")
    return value


def _draw(call: HostCall, letters: str, length: int) -> str:
    from random import SystemRandom

    random: Random = call.world.random or SystemRandom()
    return "".join(random.choice(letters) for _ in range(length))


def _keep(call: HostCall, kind: str, id: str, code: str, seconds: int) -> None:
    codes = call.world.session.setdefault(CODES_KEY, {})
    codes[kind, id] = (code, call.world.clock.seconds + seconds)


def _find(call: HostCall, kind: str, id: str, *, forget: bool = False) -> str | None:
    codes = call.world.session.get(CODES_KEY) or {}
    found = codes.pop((kind, id), None) if forget else codes.get((kind, id))
    return found[0] if found and call.world.clock.seconds < found[1] else None


def _picture(digits: str, width: int, height: int) -> str:
    """The digits, black on white, as a data URL of a PNG."""
    from base64 import b64encode
    from struct import pack
    from zlib import compress, crc32

    columns = 4 * len(digits) + 1
    rows = []
    for y in range(height):
        line = 7 * y // height - 1
        bits = "".join(f"0{int(_GLYPHS[int(digit)][line]):03b}" if 0 <= line < 5 else "0000" for digit in digits) + "0"
        rows.append(b"\0" + bytes(0 if bits[columns * x // width] == "1" else 255 for x in range(width)))

    def chunk(name: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + name + data + pack(">I", crc32(name + data))

    header = pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    image = chunk(b"IHDR", header) + chunk(b"IDAT", compress(b"".join(rows))) + chunk(b"IEND", b"")
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + image).decode()


def random_uuid(call: HostCall) -> str:
    """A random UUID; that of its seed in a test that has one."""
    from uuid import UUID, uuid4

    random = call.world.random
    return str(UUID(int=random.getrandbits(128), version=4) if random else uuid4())


def _make_jwt(given: Arguments, call: HostCall, number: int, data: dict[str, Json], option: dict[str, Json]) -> Json:
    """`jwt.Make(id, data, {subject, audience, issuer, timeout, sid, expires_at}?)`: `{token, expires_at}`.

    `timeout` is in seconds (3600 by default), `expires_at` in Unix seconds."""
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


def _verify_jwt(call: HostCall, token: str) -> Json:
    """`jwt.Verify(token)`: the claims. Raises ProcessError: code 401 when the token is malformed, signed otherwise,
    not valid yet or no longer."""
    from hmac import compare_digest

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


def _verify_password(given: Arguments, password: str, hashed: str) -> Json:
    """`pwd.Verify(password, hash)`: true; a bcrypt hash of another password is an error with code 400, as in Yao."""
    import bcrypt

    try:
        fits = bcrypt.checkpw(password.encode()[:72], hashed.encode())
    except ValueError as error:
        raise given.error("argument 2 is not a bcrypt hash") from error
    if not fits:
        raise ProcessError("Invalid password.", 400)
    return True


TABLE: dict[str, Row] = {
    "captcha.Make": ("given call record", _make_captcha),
    "captcha.Generate": ("given call record", _make_captcha),
    "captcha.Verify": ("call string string", _verify_captcha),
    "captcha.Validate": ("call string string", _verify_captcha),
    "captcha.Get": ("call string", lambda call, id: _find(call, "captcha", id) or ""),
    "otp.Generate": ("given call record", _make_otp),
    "otp.Validate": ("call string string boolean=true", _validate_otp),
    "otp.Get": ("call string", lambda call, id: _find(call, "otp", id) or ""),
    "otp.Delete": ("call string", _delete_otp),
    "jwt.Make": ("given call integer record record={}", _make_jwt),
    "jwt.Verify": ("call string", _verify_jwt),
    "pwd.Verify": ("given string string", _verify_password),
}
"""Processes of `utils.`. `Get` answers an empty string for a code that is not there any more."""
