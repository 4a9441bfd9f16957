"""`encoding.*`: base64, hex, JSON, YAML and XML; `json.*`, `jsonpath.*` and `regex.*`, for assertions too; `crypto.*`:
hashes, HMAC, RSA signatures and AES-256-GCM.

Encoding takes any value: a `Uint8Array` as its bytes, everything else as the text that Go prints for it. Decoding
returns text; bytes that are not UTF-8 become U+FFFD.

XML: an object becomes `<xml>...</xml>` around its entries. Decoding returns `{root: ...}` with attributes as `@name`,
text beside attributes as `#text`, repeated elements as arrays, and each value as a string.

`json.Validate(value, schema)` and `json.ValidateSchema(schema)` answer null when all is well, else the reason as text.

Algorithms of `crypto.*` have Yao's names (`SHA256`, `SHA3_512`, `BLAKE2b_256`), in upper or lower case. Results are
hexadecimal unless the argument for the encoding is `base64`. MD4, RIPEMD160 and MD5SHA1 are missing, because not every
Python has them. RSA (PKCS #1 v1.5) and AES need the library cryptography, which is in the extra `crypto`."""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Callable
from typing import Any

from bindings import patterns
from bindings.processes import formats, schemas
from bindings.processes.arguments import Arguments, Row, display, host_functions
from scripttest.typing_names import Json


def encode_base64(value: bytes) -> str:
    """Standard base64 with padding, on one line."""
    return b2a_base64(value, newline=False).decode()


def decode_base64(text: str) -> bytes:
    """Standard base64 with padding; line breaks are skipped. Raises ValueError: any other character, or a wrong
    length."""
    try:
        return a2b_base64("".join(text.splitlines()), strict_mode=True) if text else b""
    except Error as error:
        raise ValueError(f"not base64: {str(error).lower()}") from error


def decode_hex(text: str) -> bytes:
    """Pairs of hexadecimal digits. Raises ValueError: anything else."""
    if any(character.isspace() for character in text):
        raise ValueError("not hexadecimal")
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise ValueError("not hexadecimal") from error


def _bytes(value: Json) -> bytes:
    return value if isinstance(value, bytes) else display(value).encode()


def _decoded(text: str, decode: Callable[[str], bytes]) -> str:
    return decode(text).decode(errors="replace")


def _encode_xml(record: dict[str, Json]) -> Json:
    import xmltodict

    entries = [
        xmltodict.unparse({name: _xml_value(value)}, full_document=False, pretty=True, indent="  ")
        for name, value in record.items()
    ]
    lines = [f"  {line}" for entry in entries for line in entry.split("\n")]
    return "\n".join(["<xml>", *lines, "</xml>"])


def _xml_value(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _xml_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_xml_value(item) for item in value]
    return "" if value is None else display(value)


def _decode_xml(given: Arguments, text: str) -> Json:
    from xml.parsers.expat import ErrorString, ExpatError

    import xmltodict

    try:
        return xmltodict.parse(text.encode(), encoding="utf-8", postprocessor=_xml_entry)
    except ExpatError as error:
        raise given.error(f"not XML: {ErrorString(error.code)} (line {error.lineno})", 500) from error


def _xml_entry(path: Any, name: str, value: Any) -> tuple[str, Any]:
    if value is None:
        value = ""
    elif isinstance(value, dict) and all(key.startswith("@") for key in value):
        value["#text"] = ""
    return name, value


def _find(given: Arguments, value: Json, path: str) -> Json:
    with given.naming():
        return patterns.find(value, path)


def _places(given: Arguments, value: Json, paths: Json) -> Json:
    with given.naming():
        return [patterns.places(value, str(path)) for path in (paths if isinstance(paths, list) else [])]


def _match(given: Arguments, pattern: str, text: str) -> Json:
    with given.naming():
        return patterns.search(pattern, text)


_SHARED: dict[str, Row] = {
    "Encode": ("any", formats.encode_json),
    "Decode": ("string", formats.decode_json),
    "Repair": ("string", formats.repair_text),
}
FUNCTIONS = host_functions(
    "encoding",
    {
        "base64.Encode": ("any", lambda value: encode_base64(_bytes(value))),
        "base64.Decode": ("string", lambda text: _decoded(text, decode_base64)),
        "hex.Encode": ("any", lambda value: _bytes(value).hex()),
        "hex.Decode": ("string", lambda text: _decoded(text, decode_hex)),
        **{f"json.{name}": row for name, row in _SHARED.items()},
        "json.Parse": ("string", lambda text: formats.parse(text, "json")),
        "yaml.Encode": ("any", formats.encode_yaml),
        "yaml.Decode": ("string", formats.decode_yaml),
        "xml.Encode": ("record", _encode_xml),
        "xml.Decode": ("given string", _decode_xml),
    },
)
JSON = host_functions(
    "json",
    {
        **_SHARED,
        "Parse": ("string string=", formats.parse),
        "Validate": ("any any", schemas.validate),
        "ValidateSchema": ("any", schemas.schema_problem),
    },
)
JSON_PATH = host_functions("jsonpath", {"Find": ("given any string", _find), "Places": ("given any any", _places)})
REGEX = host_functions("regex", {"Match": ("given string string", _match)})


_ALGORITHMS = {
    **{name: (name.lower(), 0) for name in "MD5 SHA1 SHA224 SHA256 SHA384 SHA512 SHA512_224 SHA512_256".split()},
    **{name: (name.lower(), 0) for name in "SHA3_224 SHA3_256 SHA3_384 SHA3_512".split()},
    "BLAKE2S_256": ("blake2s", 32),
    **{f"BLAKE2B_{bits}": ("blake2b", bits // 8) for bits in (256, 384, 512)},
}
"""Yao's name in capitals to hashlib's name and the digest size (0: the algorithm's own)."""


def _hmac_text(given: Arguments, algorithm: str, value: str, key: str, encoding: str) -> Json:
    return _encoded(_hmac(_hasher(given, algorithm), key.encode(), value.encode()), encoding)


def _hmac_with(given: Arguments, option: dict[str, Json]) -> Json:
    names = Arguments(given.process, [option.get("type") or option.get("algo")])
    hasher = _hasher(given, names.string(1, "SHA256"))
    value = _argument(given, 2, option.get("value"))
    key = _argument(given, 3, option.get("key"))
    return _encoded(_hmac(hasher, key, value), option.get("output"))


def _hasher(given: Arguments, name: str) -> Callable[..., Any]:
    import hashlib

    known = _ALGORITHMS.get(name.upper().replace("-", "_"))
    if known is None:
        raise given.error(f'algorithm "{name}" is not supported, use one of {", ".join(_ALGORITHMS)}')
    algorithm, size = known
    if size:
        return lambda data=b"": getattr(hashlib, algorithm)(data, digest_size=size)
    return lambda data=b"": hashlib.new(algorithm, data)


def _hmac(hasher: Callable[..., Any], key: bytes, value: bytes) -> bytes:
    import hmac

    return hmac.new(key, value, hasher).digest()


def _encoded(value: bytes, encoding: Json) -> str:
    return encode_base64(value) if encoding == "base64" else value.hex()


def _argument(given: Arguments, position: int, encoding: Json) -> bytes:
    text = given.string(position)
    with given.naming(f"argument {position} is "):
        if encoding == "base64":
            return decode_base64(text)
        return decode_hex(text) if encoding == "hex" else text.encode()


def _rsa_sign(given: Arguments, pem: str, name: str, value: str, encoding: str) -> Json:
    key, padding, algorithm = _rsa(given, pem, name, private=True)
    return _encoded(key.sign(value.encode(), padding, algorithm), encoding)


def _rsa_verify(given: Arguments, pem: str, name: str, value: str, _signature: str, encoding: str) -> Json:
    signature = _argument(given, 4, encoding or "hex")
    key, padding, algorithm = _rsa(given, pem, name, private=False)
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, value.encode(), padding, algorithm)
    except InvalidSignature:
        return False
    return True


def _rsa(given: Arguments, text: str, name: str, *, private: bool) -> tuple[Any, Any, Any]:
    """Key, padding and algorithm. Keys are PEM or bare base64, PKCS #8, PKCS #1 or X.509."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    text = text.strip()
    algorithm = getattr(hashes, name.upper().replace("-", "_"), None)
    if algorithm is None or name.upper() not in _ALGORITHMS or name.upper().startswith("BLAKE"):
        raise given.error(f'algorithm "{name}" is not supported for RSA')
    wanted: type[Any] = rsa.RSAPrivateKey if private else rsa.RSAPublicKey
    try:
        key: Any = None
        if text.startswith("-----BEGIN CERTIFICATE-----"):
            key = x509.load_pem_x509_certificate(text.encode()).public_key()
        else:
            der = decode_base64("".join(line for line in text.splitlines() if not line.startswith("-----")))
            key = serialization.load_der_private_key(der, None) if private else serialization.load_der_public_key(der)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, wanted):
        raise given.error(f"argument 1 is not an RSA {'private' if private else 'public'} key")
    return key, padding.PKCS1v15(), algorithm()


def _aes_encrypt(given: Arguments, mode: str, key: str, nonce: str, text: str, extra: str, encoding: str) -> Json:
    cipher = _aes(given, mode, key, nonce)
    return _encoded(cipher.encrypt(nonce.encode(), text.encode(), extra.encode() or None), encoding)


def _aes_decrypt(given: Arguments, mode: str, key: str, nonce: str, _text: str, extra: str, encoding: str) -> Json:
    sealed = _argument(given, 4, encoding or "hex")
    cipher = _aes(given, mode, key, nonce)
    from cryptography.exceptions import InvalidTag

    try:
        plain: bytes = cipher.decrypt(nonce.encode(), sealed, extra.encode() or None)
    except InvalidTag as error:
        raise given.error("cannot decrypt: wrong key, nonce, additional data or text", 500) from error
    return plain.decode(errors="replace")


def _aes(given: Arguments, mode: str, key: str, nonce: str) -> Any:
    if mode.upper() != "GCM":
        raise given.error(f'algorithm "{mode}" is not supported, use GCM')
    for position, what, bytes_, size in ((2, "key", key.encode(), 32), (3, "nonce", nonce.encode(), 12)):
        if len(bytes_) != size:
            raise given.error(f"argument {position} must be a {what} of {size} bytes, got {len(bytes_)}")
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key.encode())


CRYPTO_TABLE: dict[str, Row] = {
    "Hash": (
        "given string string",
        lambda given, algorithm, value: _hasher(given, algorithm)(value.encode()).hexdigest(),
    ),
    "Hmac": ("given string string string string=", _hmac_text),
    "HmacWith": ("given record", _hmac_with),
    "RSA2Sign": ("given string string string string=", _rsa_sign),
    "RSA2Verify": ("given string string string string string=", _rsa_verify),
    "AES256Encrypt": ("given string string string string string= string=", _aes_encrypt),
    "AES256Decrypt": ("given string string string string string= string=", _aes_decrypt),
}
CRYPTO = host_functions("crypto", CRYPTO_TABLE)
