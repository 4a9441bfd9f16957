"""`NamedTuple` for a command that has fifty of them and should start at once.

`typing` compiles the annotation of each field when a class is made, which takes 20 us a field and nearly a third of the
time in which our modules load. Here annotations stay the texts that they are; to a type checker nothing differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    _OF_CLASS = ("__module__", "__qualname__", "__annotations__")

    class _Meta(type):
        def __new__(meta, name, bases, body):
            fields = body["__annotations__"]
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__annotations__ = fields
            for key, value in body.items():
                if key not in fields and key not in _OF_CLASS:
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Meta, "NamedTuple", (), {})
