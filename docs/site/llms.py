"""Writes `llms.txt` and `llms-full.txt` into the site: the pages as a list of links, and their whole texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def on_post_build(config: Any) -> None:
    """What mkdocs calls when the pages are written."""
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    lines, whole = [f"# {config.site_name}", "", "> Tests for Yao-style AI agents: scripts and cases, offline."], []
    for group in config.nav:
        for title, pages in group.items():
            lines += ["", f"## {title}", ""] if isinstance(pages, list) else [""]
            for name in pages if isinstance(pages, list) else [pages]:
                text = (docs / name).read_text("utf-8")
                heading, first = _opening(text)
                lines.append(f"- [{heading}]({name}): {first}" if first else f"- [{heading}]({name})")
                whole.append(f"<!-- {name} -->\n\n{text}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (site / "llms-full.txt").write_text("\n".join(whole), "utf-8")


def _opening(text: str) -> tuple[str, str]:
    """The title of a page, and its first sentence as plain text."""
    title, _, rest = text.removeprefix("# ").partition("\n")
    rest = re.sub(r"^```.*?^```$", "", rest, flags=re.M | re.S)
    paragraphs = [part for part in rest.split("\n\n") if re.match(r"\s*[A-Z`]", part)]
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(paragraphs[0].split())) if paragraphs else ""
    return title, re.split(r"(?<=[.:]) ", plain)[0]
