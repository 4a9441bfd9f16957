"""Doc comments of the shipped declarations: what they describe, and the reader that the pages are made with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from declarations.reader import Declaration, DeclarationError, Doc, File, load, read
from table_tests import each

FILES = load()
WITHOUT_COMMENT = {
    "new": "the comment of the class is that of its constructor",
    "set": "the getter has the comment",
    "import": "it is described where it is declared",
    "overload": "the first signature has the comment",
    "prototype": "every class has it",
    "pattern": "the comment of @yao/runtime is that of the other names of the module",
}
"""Kind of declaration that needs no doc comment → why."""
SHORT = {
    "URL.canParse(url, base)": "its parameters are those of the constructor",
    "URL.parse(url, base)": "its parameters are those of the constructor",
    "testing.Types.function(args)": "a kind of values, not a call",
}
"""Signature that leaves its parameters without description → why."""


def needs_comment(file: File) -> Iterator[Declaration]:
    """The declarations of a file that need a doc comment of their own."""
    known: set[str] = set()
    for part in file.walk():
        kinds = {part.kind, "pattern" if part.kind == "module" and "*" in part.name else ""}
        kinds |= {"overload"} if part.kind == "function" and part.path in known else set()
        kinds |= {"prototype"} if part.name == "prototype" else set()
        known.add(part.path)
        if not part.inline and not kinds & WITHOUT_COMMENT.keys():
            yield part


def uncommented(file: File) -> list[str]:
    return [f"{file.name}:{part.line}: {part.path}" for part in needs_comment(file) if part.doc is None]


@each("file", FILES.values(), ids=FILES)
def test_every_member_has_a_doc_comment(file: File) -> None:
    assert uncommented(file) == []


def misdescribed(file: File) -> list[str]:
    """The doc comments that do not describe each parameter, in their order."""
    problems = []
    for part in file.walk():
        if part.kind == "var":
            constructor = next((member for member in part.members if member.kind == "new"), None)
            params = list(constructor.params) if constructor else []
        elif part.kind == "field":
            callback = re.fullmatch(r"\w+\??: \((.*)\) => [^=]*", part.signature)
            params = re.findall(r"(\w+)\??:", callback[1]) if callback else []
        else:
            params = list(part.params)
        described = list(part.doc.params) if part.doc else params
        if described != params and f"{part.path}({', '.join(params)})" not in SHORT:
            problems.append(f"{file.name}:{part.line}: {part.path}({', '.join(params)}) describes {described}")
    return problems


@each("file", FILES.values(), ids=FILES)
def test_a_doc_comment_describes_each_parameter(file: File) -> None:
    assert misdescribed(file) == []


@each("file", FILES.values(), ids=FILES)
def test_a_doc_comment_is_made_of_sentences(file: File) -> None:
    docs = [(part.path, part.doc) for part in file.walk() if part.doc]
    texts = [
        (path, text) for path, doc in docs for text in [doc.summary, *doc.params.values(), doc.returns, doc.throws]
    ]

    assert [(path, text) for path, text in texts if text and not re.search(r"[.:]\)?$", text)] == []


# the reader of declarations

SOURCE = """\
/** What the file is for. */

/** Two things. */
declare namespace a {
  /** One. Another sentence. */
  interface B<T extends { x: 1 }> extends C, d.E<T> {
    /** Name. */
    readonly name: string;
    /**
     * Calls it.
     *
     * @example
     * ```ts
     * b.call(1);
     * ```
     *
     * @param value What is
     *   called.
     * @returns The answer.
     */
    call<R>(value: { y: number }, ...more: any[]): R;
    /** Parts. */
    parts?: {
      /** Inner. */
      inner: 1;
    };
    // a line comment
    one: { line: 1 } | ";";
    [key: string]: any;
    get both(): (a: 1) => void;
    set both(value);
  }
}
declare var F: typeof globalThis extends { F: infer X } ? X : { new (x?: 1): F; readonly prototype: F };
declare function f(x: () => void): void;
"""


def test_the_reader_finds_each_declaration_with_its_members() -> None:
    file = read(SOURCE)

    assert file.header == Doc("What the file is for.")
    assert [(part.kind, part.path, part.params, part.optional, part.inline) for part in file.walk()] == [
        ("namespace", "a", (), False, False),
        ("interface", "a.B", (), False, False),
        ("field", "a.B.name", (), False, False),
        ("method", "a.B.call", ("value", "more"), False, False),
        ("field", "a.B.parts", (), True, False),
        ("field", "a.B.parts.inner", (), False, False),
        ("field", "a.B.one", (), False, False),
        ("field", "a.B.one.line", (), False, True),
        ("index", "a.B.[key]", (), False, False),
        ("get", "a.B.both", (), False, False),
        ("set", "a.B.both", ("value",), False, False),
        ("var", "F", (), False, False),
        ("field", "F.F", (), False, True),
        ("new", "F.new", ("x",), False, True),
        ("field", "F.prototype", (), False, True),
        ("function", "f", ("x",), False, False),
    ]
    assert file.declarations[0].members[0].bases == ("C", "d.E")


def test_the_reader_takes_a_doc_comment_apart() -> None:
    interface = read(SOURCE).declarations[0].members[0]
    name, call = interface.members[:2]

    assert interface.doc is not None and interface.doc.summary == "One."
    assert call.doc == Doc(
        "Calls it.", {"value": "What is called."}, returns="The answer.", example="```ts\nb.call(1);\n```"
    )
    assert call.doc.blocks == ["b.call(1);\n"]
    assert (name.type, name.signature, call.signature) == (
        "string",
        "readonly name: string",
        "call<R>(value: { y: number }, ...more: any[]): R",
    )


REFUSED = {
    "another statement": ("class A {}", "1: expected namespace or module or interface or type or var or function"),
    "a bracket without end": ("interface A {\n  b: (;\n}", "3: a bracket is missing"),
    "a name without type": ("interface A {\n  b();c\n d: 1 }", "3: expected a type"),
    "a comment of nothing": ("interface A {\n  /** B. */\n}", "3: a doc comment of nothing before"),
    "two comments": ("type A = 1;\n/** B. */\n/** C. */\ntype D = 1;", "4: more than one doc comment before"),
    "an empty comment": ("/** */\ntype A = 1;", "1: an empty doc comment"),
    "an empty tag": ("/**\n * A.\n * @returns\n */\ntype A = 1;", "1: nothing said by @returns"),
    "an unknown tag": ("/**\n * A.\n * @deprecated B.\n */\ntype A = 1;", "1: unknown tag @deprecated"),
    "a code block without end": ("/**\n * ```ts\n * a();\n */\ntype A = 1;", "1: a code block without end"),
    "another sign": ("type A = `b`;", "1: no token of a declaration"),
}


@each(("text", "problem"), REFUSED.values(), ids=REFUSED)
def test_the_reader_refuses_what_it_does_not_know(text: str, problem: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(f"input.d.ts:{problem}")):
        read(text)


def test_a_member_without_doc_comment_is_found() -> None:
    assert uncommented(read(SOURCE, "a.d.ts")) == [
        "a.d.ts:28: a.B.one",
        "a.d.ts:29: a.B.[key]",
        "a.d.ts:30: a.B.both",
        "a.d.ts:34: F",
        "a.d.ts:35: f",
    ]


def test_a_parameter_without_description_is_found() -> None:
    text = "/**\n * A.\n * @param y B.\n */\ndeclare function f(x: 1, y: 2): 3;\n"

    assert misdescribed(read(text, "a.d.ts")) == ["a.d.ts:5: f(x, y) describes ['y']"]
