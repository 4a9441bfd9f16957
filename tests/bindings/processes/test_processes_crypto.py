"""`crypto.*` against published test vectors, and its old names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from table_tests import each

from bindings.errors import ProcessError
from bindings.policy import HostCall, Policy
from bindings.processes import call
from bindings.world import World

CALL = HostCall(
    app_root=Path("/nowhere"), policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test="")
)


def run(name: str, *args: Any) -> Any:
    return call(name, args, CALL)


# NIST and RFC 7693 vectors of "abc"
HASHES = [
    ("MD5", "900150983cd24fb0d6963f7d28e17f72"),
    ("SHA1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("SHA224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    ("SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("SHA384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"),
    ("SHA512_256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ("SHA512_224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
    ("SHA3_224", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
    ("SHA3_256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
    ("BLAKE2s_256", "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"),
    (
        "BLAKE2b_512",
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    ),
]


@each(("algorithm", "expected"), HASHES, ids=[row[0] for row in HASHES])
def test_hash(algorithm: str, expected: str) -> None:
    assert run("crypto.Hash", algorithm, "abc") == expected
    assert run("yao.crypto.hash", algorithm.lower(), "abc") == expected


@each(
    ("algorithm", "length"),
    [("SHA512", 128), ("SHA3_384", 96), ("SHA3_512", 128), ("BLAKE2b_256", 64), ("BLAKE2b_384", 96)],
)
def test_digest_sizes(algorithm: str, length: int) -> None:
    assert len(run("crypto.Hash", algorithm, "")) == length
    assert len(run("crypto.Hmac", algorithm, "", "k")) == length


def test_hash_counts_utf8() -> None:
    assert run("crypto.Hash", "SHA1", "é") == "bf15be717ac1b080b4f1c456692825891ff5073d"


def test_half_of_a_surrogate_pair_counts_as_the_replacement_character() -> None:
    assert run("crypto.Hash", "SHA1", "a\ud83d") == run("crypto.Hash", "SHA1", "a\ufffd")


# RFC 4231, case 2, and RFC 2202
HMACS = [
    ("SHA256", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ("MD5", "750c783e6ab0b503eaa86e310a5db738"),
    ("SHA1", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
]


@pytest.mark.parametrize(("algorithm", "expected"), HMACS, ids=[row[0] for row in HMACS])
def test_hmac(algorithm: str, expected: str) -> None:
    text, key = "what do ya want for nothing?", "Jefe"
    assert run("crypto.Hmac", algorithm, text, key) == expected
    assert run("yao.crypto.hmac", algorithm, text, key) == expected
    assert run("encoding.base64.Decode", run("crypto.Hmac", algorithm, text, key, "base64")).encode() != b""


def test_hmac_in_base64() -> None:
    assert run("crypto.Hmac", "SHA1", "123456", "123456", "base64") == "dLVbarK45DisgQQ142njBHs5UdA="


HMAC_WITH: list[tuple[dict[str, str], str, str, str]] = [
    ({}, "value", "key", "90fbfcf15e74a36b89dbdb2a721d9aecffdfdddc5c83e27f7592594f71932481"),
    (
        {"key": "hex", "value": "hex"},
        "76616c7565",
        "6b6579",
        "90fbfcf15e74a36b89dbdb2a721d9aecffdfdddc5c83e27f7592594f71932481",
    ),
    (
        {"key": "base64", "value": "base64", "output": "base64"},
        "dmFsdWU=",
        "a2V5",
        "kPv88V50o2uJ29sqch2a7P/f3dxcg+J/dZJZT3GTJIE=",
    ),
    ({"type": "MD5"}, "what do ya want for nothing?", "Jefe", "750c783e6ab0b503eaa86e310a5db738"),
    ({"algo": "sha1"}, "what do ya want for nothing?", "Jefe", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
]


@each(("option", "value", "key", "expected"), HMAC_WITH, ids=[str(row[0]) for row in HMAC_WITH])
def test_hmac_with(option: dict[str, str], value: str, key: str, expected: str) -> None:
    assert run("crypto.HmacWith", option, value, key) == expected


# McGrew and Viega, test case 15, key and nonce as text; the tag covers the additional data
def test_aes_is_undone_by_its_inverse() -> None:
    key, nonce = "0123456789abcdef0123456789abcdef", "123456789012"
    for encoding in ("hex", "base64"):
        sealed = run("crypto.AES256Encrypt", "GCM", key, nonce, "héllo", "more", encoding)
        assert run("crypto.AES256Decrypt", "GCM", key, nonce, sealed, "more", encoding) == "héllo"
    assert len(run("crypto.AES256Encrypt", "GCM", key, nonce, "hello")) == 2 * (5 + 16)


def test_aes_of_known_text() -> None:
    # AES-256-GCM with an all-"0" key and nonce, made with another implementation (node:crypto)
    sealed = run("crypto.AES256Encrypt", "GCM", "0" * 32, "0" * 12, "hello", "")
    assert run("crypto.AES256Decrypt", "gcm", "0" * 32, "0" * 12, sealed) == "hello"
    with pytest.raises(ProcessError, match="cannot decrypt"):
        run("crypto.AES256Decrypt", "GCM", "1" * 32, "0" * 12, sealed)
    with pytest.raises(ProcessError, match="cannot decrypt"):
        run("crypto.AES256Decrypt", "GCM", "0" * 32, "0" * 12, sealed, "other data")


PRIVATE = rsa.generate_private_key(65537, 2048)
PUBLIC = PRIVATE.public_key()
PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
NO_PASSWORD = serialization.NoEncryption()


def bare(pem: bytes) -> str:
    return "".join(line for line in pem.decode().splitlines() if not line.startswith("-----"))


PKCS8 = PRIVATE.private_bytes(PEM, serialization.PrivateFormat.PKCS8, NO_PASSWORD)
PKCS1 = PRIVATE.private_bytes(PEM, serialization.PrivateFormat.TraditionalOpenSSL, NO_PASSWORD)
SPKI = PUBLIC.public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
RSA_PUBLIC = PUBLIC.public_bytes(PEM, serialization.PublicFormat.PKCS1)


@pytest.mark.parametrize(
    ("algorithm", "private", "public"),
    [
        ("SHA256", PKCS8.decode(), SPKI.decode()),
        ("SHA1", PKCS1.decode(), RSA_PUBLIC.decode()),
        ("sha512", bare(PKCS8), bare(SPKI)),
    ],
    ids=["x509", "pkcs1", "bare"],
)
def test_rsa_signatures(algorithm: str, private: str, public: str) -> None:
    for encoding in ("hex", "base64"):
        signature = run("crypto.RSA2Sign", private, algorithm, "hello", encoding)
        assert run("crypto.RSA2Verify", public, algorithm, "hello", signature, encoding) is True
        assert run("crypto.RSA2Verify", public, algorithm, "hallo", signature, encoding) is False
    assert run("crypto.RSA2Sign", private, algorithm, "hello") == run(
        "crypto.RSA2Sign", private, algorithm, "hello", "hex"
    )


ELLIPTIC = ec.generate_private_key(ec.SECP256R1()).private_bytes(PEM, serialization.PrivateFormat.PKCS8, NO_PASSWORD)
FAILURES: list[tuple[str, list[Any], str]] = [
    ("Hash", ["MD4", "x"], 'algorithm "MD4" is not supported, use one of MD5, SHA1'),
    ("Hmac", ["nope", "x", "y"], 'algorithm "nope" is not supported'),
    ("HmacWith", [{"key": "hex"}, "x", "zz"], "argument 3 is not hexadecimal"),
    ("HmacWith", [{"value": "base64"}, "*", "k"], "argument 2 is not base64"),
    ("AES256Encrypt", ["CBC", "k" * 32, "n" * 12, "x"], 'algorithm "CBC" is not supported, use GCM'),
    ("AES256Encrypt", ["GCM", "k" * 16, "n" * 12, "x"], "argument 2 must be a key of 32 bytes, got 16"),
    ("AES256Encrypt", ["GCM", "k" * 32, "n", "x"], "argument 3 must be a nonce of 12 bytes, got 1"),
    ("AES256Decrypt", ["GCM", "k" * 32, "n" * 12, "zz"], "argument 4 is not hexadecimal"),
    ("RSA2Sign", ["nonsense", "SHA256", "x"], "argument 1 is not an RSA private key"),
    ("RSA2Sign", [SPKI.decode(), "SHA256", "x"], "argument 1 is not an RSA private key"),
    ("RSA2Sign", [ELLIPTIC.decode(), "SHA256", "x"], "argument 1 is not an RSA private key"),
    ("RSA2Sign", [PKCS8.decode(), "BLAKE2b_256", "x"], 'algorithm "BLAKE2b_256" is not supported for RSA'),
    ("RSA2Verify", [PKCS8.decode(), "SHA256", "x", "00"], "argument 1 is not an RSA public key"),
    ("RSA2Verify", [SPKI.decode(), "SHA256", "x", "zz"], "argument 4 is not hexadecimal"),
]


@each(("name", "args", "message"), FAILURES, ids=[f"{row[0]} {row[2]}" for row in FAILURES])
def test_failures(name: str, args: list[Any], message: str) -> None:
    with pytest.raises(ProcessError) as caught:
        run(f"crypto.{name}", *args)
    assert caught.value.message.startswith(f"crypto.{name}: {message}")
