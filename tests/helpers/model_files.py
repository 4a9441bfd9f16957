"""Files of models for applications of tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def model(table: str, *columns: Any, **more: Any) -> str:
    return json.dumps({"table": {"name": table}, "columns": [{"name": "id", "type": "ID"}, *columns], **more})


NAME = {"name": "name", "type": "string", "length": 10}
PET = {
    "/models/pet.mod.yao": model(
        "pet", NAME, {**NAME, "name": "tag", "nullable": True}, values=[{"name": "Rex"}], option={"soft_deletes": True}
    )
}
HOOK = """\
export function Create(ctx, messages) {
  const id = Process("models.pet.Create", { name: messages.at(-1).content });
  return { metadata: { names: Process("models.pet.Get", {}).map((pet) => pet.name).join(), id } };
}
"""
NAMES = [{"reply": "{{ metadata.names }} {{ metadata.id }}"}]
