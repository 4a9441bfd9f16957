"""`yao.`: old names of processes that moved to `crypto.`."""

from __future__ import annotations

from bindings.processes.arguments import host_functions
from bindings.processes.crypto import hash_text, hmac_text

FUNCTIONS = host_functions("yao", {"crypto.Hash": hash_text, "crypto.Hmac": hmac_text})
