"""`yao.`: old names of processes that moved to `crypto.` and `utils.env.`."""

from __future__ import annotations

from bindings.processes.arguments import host_functions
from bindings.processes.crypto import hash_text, hmac_text
from bindings.processes.utils import env_get, env_get_many, env_set, env_set_many

FUNCTIONS = host_functions(
    "yao",
    {
        "crypto.Hash": hash_text,
        "crypto.Hmac": hmac_text,
        "env.Get": env_get,
        "env.GetMany": env_get_many,
        "env.Set": env_set,
        "env.SetMany": env_set_many,
    },
)
