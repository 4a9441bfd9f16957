"""`crypto.*`: hashes, HMAC, RSA signatures and AES-256-GCM.

Algorithms have Yao's names (`SHA256`, `SHA3_512`, `BLAKE2b_256`), in upper or lower case. Results are hexadecimal
unless the argument for the encoding is `base64`. MD4, RIPEMD160 and MD5SHA1 are missing, because not every Python has
them. RSA (PKCS #1 v1.5) and AES need the library cryptography, which is in the extra `crypto`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bindings.policy import HostCall
from bindings.processes.arguments import Arguments, host_functions
from bindings.processes.encoding import decode_base64, decode_hex, encode_base64
from scripttest.typing_names import Json

if TYPE_CHECKING:
    from collections.abc import Callable

_ALGORITHMS: dict[str, tuple[str, int]] = {
    "MD5": ("md5", 0),
    "SHA1": ("sha1", 0),
    "SHA224": ("sha224", 0),
    "SHA256": ("sha256", 0),
    "SHA384": ("sha384", 0),
    "SHA512": ("sha512", 0),
    "SHA512_224": ("sha512_224", 0),
    "SHA512_256": ("sha512_256", 0),
    "SHA3_224": ("sha3_224", 0),
    "SHA3_256": ("sha3_256", 0),
    "SHA3_384": ("sha3_384", 0),
    "SHA3_512": ("sha3_512", 0),
    "BLAKE2S_256": ("blake2s", 32),
    "BLAKE2B_256": ("blake2b", 32),
    "BLAKE2B_384": ("blake2b", 48),
    "BLAKE2B_512": ("blake2b", 64),
}
"""Yao's name in capitals to hashlib's name and the digest size (0: the algorithm's own)."""


def hash_text(given: Arguments, call: HostCall) -> Json:
    """`Hash(algorithm, value)`."""
    hasher = _hasher(given, 1)
    return hasher(given.string(2).encode()).hexdigest()


def hmac_text(given: Arguments, call: HostCall) -> Json:
    """`Hmac(algorithm, value, key, encoding?)`."""
    hasher = _hasher(given, 1)
    value, key = given.string(2).encode(), given.string(3).encode()
    return _encoded(_hmac(hasher, key, value), given.string(4, ""))


def _hmac_with(given: Arguments, call: HostCall) -> Json:
    option = given.record(1)
    names = Arguments(given.process, [option.get("type") or option.get("algo")])
    hasher = _hasher(names, 1, "SHA256")
    value = _decoded(given, 2, option.get("value"))
    key = _decoded(given, 3, option.get("key"))
    return _encoded(_hmac(hasher, key, value), option.get("output"))


def _hasher(given: Arguments, position: int, default: str | None = None) -> Callable[..., Any]:
    import hashlib

    name = given.string(position, default)
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


def _decoded(given: Arguments, position: int, encoding: Json) -> bytes:
    text = given.string(position)
    try:
        if encoding == "base64":
            return decode_base64(text)
        return decode_hex(text) if encoding == "hex" else text.encode()
    except ValueError as error:
        raise given.error(f"argument {position} is {error}") from error


def _rsa_sign(given: Arguments, call: HostCall) -> Json:
    value, encoding = given.string(3).encode(), given.string(4, "")
    key, padding, algorithm = _rsa(given, private=True)
    return _encoded(key.sign(value, padding, algorithm), encoding)


def _rsa_verify(given: Arguments, call: HostCall) -> Json:
    value = given.string(3).encode()
    signature = _decoded(given, 4, given.string(5, "") or "hex")
    key, padding, algorithm = _rsa(given, private=False)
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, value, padding, algorithm)
    except InvalidSignature:
        return False
    return True


def _rsa(given: Arguments, *, private: bool) -> tuple[Any, Any, Any]:
    """Key, padding and algorithm out of arguments 1 and 2. Keys are PEM or bare base64, PKCS #8, PKCS #1 or X.509."""
    text, name = given.string(1).strip(), given.string(2)
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import padding, rsa
    except ImportError as error:
        raise given.needs("cryptography", "crypto") from error
    algorithm = getattr(hashes, name.upper().replace("-", "_"), None)
    if algorithm is None or name.upper() not in _ALGORITHMS or name.upper().startswith("BLAKE"):
        raise given.error(f'algorithm "{name}" is not supported for RSA')
    wanted: type[Any] = rsa.RSAPrivateKey if private else rsa.RSAPublicKey
    try:
        key: Any
        if text.startswith("-----BEGIN CERTIFICATE-----"):
            key = x509.load_pem_x509_certificate(text.encode()).public_key()
        else:
            der = decode_base64("".join(line for line in text.splitlines() if not line.startswith("-----")))
            key = serialization.load_der_private_key(der, None) if private else serialization.load_der_public_key(der)
    except (ValueError, TypeError) as error:
        raise given.error(f"argument 1 is not an RSA {'private' if private else 'public'} key") from error
    if not isinstance(key, wanted):
        raise given.error(f"argument 1 is not an RSA {'private' if private else 'public'} key")
    return key, padding.PKCS1v15(), algorithm()


def _aes_encrypt(given: Arguments, call: HostCall) -> Json:
    text, encoding = given.string(4).encode(), given.string(6, "")
    cipher, nonce, extra = _aes(given)
    return _encoded(cipher.encrypt(nonce, text, extra), encoding)


def _aes_decrypt(given: Arguments, call: HostCall) -> Json:
    sealed = _decoded(given, 4, given.string(6, "") or "hex")
    cipher, nonce, extra = _aes(given)
    from cryptography.exceptions import InvalidTag

    try:
        plain: bytes = cipher.decrypt(nonce, sealed, extra)
    except InvalidTag as error:
        raise given.error("cannot decrypt: wrong key, nonce, additional data or text", 500) from error
    return plain.decode(errors="replace")


def _aes(given: Arguments) -> tuple[Any, bytes, bytes | None]:
    """Cipher, nonce and additional data out of arguments 1, 2, 3 and 5."""
    mode, key, nonce = given.string(1), given.string(2).encode(), given.string(3).encode()
    extra = given.string(5, "").encode()
    if mode.upper() != "GCM":
        raise given.error(f'algorithm "{mode}" is not supported, use GCM')
    if len(key) != 32:
        raise given.error(f"argument 2 must be a key of 32 bytes, got {len(key)}")
    if len(nonce) != 12:
        raise given.error(f"argument 3 must be a nonce of 12 bytes, got {len(nonce)}")
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise given.needs("cryptography", "crypto") from error
    return AESGCM(key), nonce, extra or None


FUNCTIONS = host_functions(
    "crypto",
    {
        "Hash": hash_text,
        "Hmac": hmac_text,
        "HmacWith": _hmac_with,
        "RSA2Sign": _rsa_sign,
        "RSA2Verify": _rsa_verify,
        "AES256Encrypt": _aes_encrypt,
        "AES256Decrypt": _aes_decrypt,
    },
)
