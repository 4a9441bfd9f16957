"""`utils.jwt.*` and `utils.pwd.*`: tokens and passwords."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import bcrypt
import pytest

from bindings.errors import ProcessError
from bindings.policy import HostCall, Policy
from bindings.processes import call

Run = Callable[..., Any]


def test_a_token_carries_the_claims_of_yao(run: Run) -> None:
    before = int(time.time())
    made = run("utils.jwt.Make", 7, {"name": "Ann"}, {"timeout": 60, "subject": "S"})
    assert before + 60 <= made["expires_at"] <= time.time() + 60
    claims = run("utils.jwt.Verify", made["token"])
    times = {claims.pop("iat"), claims.pop("nbf"), claims.pop("exp") - 60}
    assert times == {made["expires_at"] - 60}
    assert claims == {
        "id": 7,
        "sid": "s1",
        "data": {"name": "Ann"},
        "aud": "Yao Process utils.jwt.Make",
        "jti": "7",
        "iss": "xiang:7",
        "sub": "S",
    }
    assert run("xiang.helper.JwtValidate", made["token"])["id"] == 7


def encode(value: Any) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_has_the_standard_form(run: Run) -> None:
    head, body, _ = run("utils.jwt.Make", 1, {})["token"].split(".")
    assert (head, json.loads(__import__("base64").urlsafe_b64decode(body + "==="))["id"]) == (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        1,
    )


def test_a_token_of_another_library_is_read(run: Run) -> None:
    # HS256, key "yao-test", {"id": 3}, signed with the openssl command
    token = "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6M30." + OPENSSL_SIGNATURE
    assert run("utils.jwt.Verify", token) == {"id": 3}


OPENSSL_SIGNATURE = "nJpx05SWO7Ew5F0dt52ELdJquEAMwk8HuoeH1M2o6U4"


def test_bad_tokens_are_refused(run: Run, surroundings: HostCall) -> None:
    good = run("utils.jwt.Make", 1, {})["token"]
    head, body, signature = good.split(".")
    other = surroundings.replace(policy=Policy(environment={"YAO_JWT_SECRET": "other"}))
    bad = [
        "",
        "a.b",
        "a.b.c",
        f"{head}.{body}.",
        f"{head}.{encode({'id': 2})}.{signature}",
        f"{encode({'alg': 'none'})}.{body}.",
        f"{encode({'alg': 'none', 'typ': 'JWT'})}.{body}.{signature}",
        f"{encode([])}.{body}.{signature}",
        good + "!",
        call("utils.jwt.Make", [1, {}], other)["token"],
        run("utils.jwt.Make", 1, {}, {"timeout": -1})["token"],
        run("utils.jwt.Make", 1, {}, {"expires_at": 1})["token"],
    ]
    for token in bad:
        with pytest.raises(ProcessError) as caught:
            run("utils.jwt.Verify", token)
        assert (caught.value.message, caught.value.code) == ("Invalid token", 401), token
    assert call("utils.jwt.Verify", [call("utils.jwt.Make", [1, {}], other)["token"]], other)["id"] == 1


def signed(header: Any, claims: Any) -> str:
    text = f"{encode(header)}.{encode(claims)}"
    signature = hmac.new(b"yao-test", text.encode(), "sha256").digest()
    return f"{text}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_a_good_signature_is_not_enough(run: Run) -> None:
    now, head = time.time(), {"alg": "HS256"}
    good = [{"exp": now + 60}, {"nbf": now - 60}, {}]
    assert [run("utils.jwt.Verify", signed(head, claims)) for claims in good] == good
    bad = [
        signed({"alg": "none"}, {}),
        signed({"alg": "HS512"}, {}),
        signed({}, {}),
        signed([], {}),
        signed(head, [1]),
        signed(head, {"nbf": now + 60}),
        signed(head, {"exp": now - 1}),
        signed(head, {"exp": "never"}),
        signed(head, {"nbf": None}),
        signed(head, {}) + ".more",
    ]
    for token in bad:
        with pytest.raises(ProcessError, match="Invalid token"):
            run("utils.jwt.Verify", token)


def test_only_the_first_72_bytes_of_a_password_count(run: Run) -> None:
    hashed = bcrypt.hashpw(b"a" * 72, bcrypt.gensalt(4)).decode()
    assert run("utils.pwd.Verify", "a" * 80, hashed) is True
    with pytest.raises(ProcessError, match="Invalid password"):
        run("utils.pwd.Verify", "a" * 71 + "b", hashed)


def test_passwords(run: Run) -> None:
    hashed = bcrypt.hashpw(b"correct horse", bcrypt.gensalt(4)).decode()
    assert run("utils.pwd.Verify", "correct horse", hashed) is True
    with pytest.raises(ProcessError) as caught:
        run("utils.pwd.Verify", "wrong", hashed)
    assert (caught.value.message, caught.value.code) == ("Invalid password.", 400)
    with pytest.raises(ProcessError, match="argument 2 is not a bcrypt hash"):
        run("xiang.helper.PasswordValidate", "x", "not a hash")
