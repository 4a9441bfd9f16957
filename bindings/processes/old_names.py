"""`xiang.`, names from before Yao 0.10, and `yao.`: old names of processes that are now in `utils.` and `crypto.`."""

from __future__ import annotations

from bindings.processes import codes, records, utils
from bindings.processes.arguments import host_functions
from bindings.processes.crypto import hash_text, hmac_text

XIANG = host_functions(
    "xiang",
    {
        "helper.ArrayGet": records.array_get,
        "helper.ArrayIndexes": records.array_indexes,
        "helper.ArrayPluck": records.array_pluck,
        "helper.ArraySplit": records.array_split,
        "helper.ArrayColumn": records.array_column,
        "helper.ArrayKeep": records.array_keep,
        "helper.ArrayTree": records.array_tree,
        "helper.ArrayUnique": records.array_unique,
        "helper.ArrayMapSet": records.array_map_set,
        "helper.MapKeys": records.map_keys,
        "helper.MapValues": records.map_values,
        "helper.MapToArray": records.map_array,
        "helper.MapGet": records.map_get,
        "helper.MapSet": records.map_set,
        "helper.MapDel": records.map_delete,
        "helper.MapMultiDel": records.map_delete_many,
        "helper.StrConcat": utils.concat,
        "helper.HexToString": utils.to_hex,
        "helper.EnvGet": utils.env_get,
        "helper.EnvSet": utils.env_set,
        "helper.EnvMultiGet": utils.env_get_many,
        "helper.EnvMultiSet": utils.env_set_many,
        "helper.JwtMake": codes.make_jwt,
        "helper.JwtValidate": codes.verify_jwt,
        "helper.PasswordValidate": codes.verify_password,
        "helper.Captcha": codes.make_captcha,
        "helper.CaptchaValidate": codes.verify_captcha,
        "helper.Print": utils.print_values,
        "helper.Throw": utils.throw,
        "helper.Return": utils.return_values,
        "env.Get": utils.env_get,
        "env.Set": utils.env_set,
        "env.MultiGet": utils.env_get_many,
        "env.MultiSet": utils.env_set_many,
        "flow.Sleep": utils.sleep,
        "flow.Throw": utils.throw,
        "flow.Return": utils.return_values,
        "sys.Sleep": utils.sleep,
        "sys.Print": utils.print_values,
    },
)

YAO = host_functions(
    "yao",
    {
        "crypto.Hash": hash_text,
        "crypto.Hmac": hmac_text,
        "env.Get": utils.env_get,
        "env.GetMany": utils.env_get_many,
        "env.Set": utils.env_set,
        "env.SetMany": utils.env_set_many,
    },
)
