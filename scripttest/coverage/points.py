"""Finds what is counted in a script: statements, functions and the arms of branches, as Istanbul defines them. They are
found in the syntax tree of the JavaScript.

A counter is put before a statement. An expression is wrapped: `(counter, expression)`. If that would remove the name of
a function or class, the counter is put before the declaration, or nothing is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from scripttest.coverage.hints import IF, NEXT
from scripttest.coverage.insertions import Insertion, Insertions
from scripttest.values import Value

COUNTERS = "$yaoHits"
"""The global with all counters."""

_STATEMENTS = (
    "expression_statement if_statement switch_statement for_statement for_in_statement while_statement do_statement"
    " try_statement with_statement break_statement continue_statement debugger_statement return_statement"
    " throw_statement labeled_statement"
).split()
_FUNCTIONS = (
    "function_declaration generator_function_declaration function_expression generator_function arrow_function"
    " method_definition"
).split()
_NAMED_BY_PLACE = {"function_expression", "generator_function", "arrow_function", "class"}
"""Expressions that take the name of what they are assigned to."""
_NAMES = {"variable_declarator": "name", "field_definition": "property", "pair": "key"}
"""Kind of node with a function without a name → the field with the name that the function gets."""
_LISTS = {"program", "statement_block", "switch_case", "switch_default"}
"""Kinds of nodes with a list of statements."""
_BODIES = "for_statement for_in_statement while_statement do_statement with_statement".split()
_QUERY = f"""
[{" ".join(f"({name})" for name in _STATEMENTS)}] @statement
[{" ".join(f"({name})" for name in _FUNCTIONS)}] @function
[{" ".join(f"({name} body: (_) @body)" for name in _BODIES)}]
(variable_declarator value: (_)) @declarator
(field_definition value: (_)) @field
(assignment_pattern) @default
(object_assignment_pattern) @default
(if_statement) @if
(switch_statement body: (switch_body) @switch)
(ternary_expression) @ternary
(binary_expression operator: ["&&" "||" "??"]) @logical
(call_expression function: (parenthesized_expression (arrow_function))) @immediate
"""
_AROUND = {"program", "statement_block", "class_body", "switch_body"}
"""Kinds of nodes that contain the code of a hint and more."""
_MADE_UP = re.compile(r"(?:(?:export|declare|const)\s+)*(?:enum|namespace|module)\b")
_RESERVED_EXPORT = rb"\bas (?!default\b)(?=[a-z])([a-z]+)(?=\s*[,}\n])"


class Span(Value):
    """Bytes of the text that is counted."""

    start: int
    end: int


class Point(Value):
    """Something that is counted."""

    kind: str
    """`statement`, `function`, or the type of a branch as Istanbul names it."""
    span: Span
    arms: tuple[Span | None, ...] = ()
    """The arms of a branch, each with a counter of its own; None: what is not written, such as a missing `else`."""
    name: str = ""
    """The name of a function."""
    head: Span | None = None
    """The declaration of a function, whose `span` is its body."""

    @property
    def counters(self) -> int:
        """How many counters it has."""
        return len(self.arms) or 1


class LeftOut(Value):
    """Code that is not counted."""

    byte: int
    """The first one that is known of it."""
    words: str
    """What comes before that byte, such as `export function`."""
    kind: str
    """The kind of the hint."""


class Counted(Value):
    """What is counted in a script, in order."""

    points: Sequence[Point]
    insertions: Sequence[Insertion]
    """The text that counts the points."""


class UnreadableError(Exception):
    """The syntax tree has errors."""


def counted(code: bytes, base: int, original: Callable[[int], str], left_out: Sequence[LeftOut] = ()) -> Counted:
    """The points of a script, with the text that counts each. Raises UnreadableError.

    Args:
        base: number of the first counter.
        original: returns the original source of the code at a byte, up to the end of its line.
        left_out: code that is not counted.
    """
    tree = Parser(_language()).parse(_readable(code))
    if tree.root_node.has_error:
        raise UnreadableError
    finder = _Finder(base, original)
    for one in left_out:
        finder.ignore(tree.root_node, one)
    return finder.find(tree.root_node)


def _readable(code: bytes) -> bytes:
    """The code without what the grammar does not know: reserved words as names of exports."""
    if b"export {" not in code:
        return code
    return re.sub(_RESERVED_EXPORT, lambda match: match[0][: -len(match[1])] + b"_" * len(match[1]), code)


@cache
def _language() -> Language:
    return Language(tree_sitter_javascript.language())


@cache
def _query() -> Query:
    return Query(_language(), _QUERY)


class _Finder:
    def __init__(self, base: int, original: Callable[[int], str]) -> None:
        self._next = base
        self._original = original
        self._points: list[Point] = []
        self._insertions = Insertions()
        self._ignored: list[Span] = []
        self._without_else: set[int] = set()
        """Ids of `if`s whose other arm is not counted, though it is not written."""

    def ignore(self, root: Node, left_out: LeftOut) -> None:
        """Leaves out what begins at a byte, or with some words before it; or an arm of the `if` there."""
        byte, kind = left_out.byte, left_out.kind
        node = root.descendant_for_byte_range(byte, byte + 1)
        code = root.text or b""
        while node is not None and node.parent is not None and node.parent.type not in _AROUND:
            before = code[node.parent.start_byte - root.start_byte : byte - root.start_byte].decode()
            if not "".join(left_out.words.split()).endswith("".join(before.split())):
                break
            node = node.parent
        if node is None:
            return
        if kind == NEXT:
            self._ignored.append(_span(node))
        elif node.type == "if_statement":
            arm = node.child_by_field_name("consequence" if kind == IF else "alternative")
            if arm is not None:
                self._ignored.append(_span(arm))
            else:
                self._without_else.add(node.id)

    def _is_ignored(self, node: Node) -> bool:
        return any(span.start <= node.start_byte and node.end_byte <= span.end for span in self._ignored)

    def find(self, root: Node) -> Counted:
        found = QueryCursor(_query()).captures(root)
        made_up = [_span(node) for node in found.get("immediate", ()) if self._is_made_up(node)]

        self._ignored += made_up

        def nodes(capture: str) -> Iterator[Node]:
            for node in sorted(found.get(capture, ()), key=lambda node: (node.start_byte, -node.end_byte)):
                if not self._is_ignored(node):
                    yield node

        skipped = {span.start for span in made_up}
        self._statements(nodes("statement"), skipped)
        for declarator in nodes("declarator"):
            self._declarator(declarator, skipped)
        for field in nodes("field"):
            self._wrapped_statement(_field(field, "value"))
        for function in nodes("function"):
            self._function(function)
        for body in nodes("body"):
            self._braces(body, "")
        self._branches(nodes)
        return Counted(points=self._points, insertions=self._insertions.in_order())

    def _is_made_up(self, call: Node) -> bool:
        """Whether it is what the compiler makes of an `enum` or a `namespace`."""
        return any(_MADE_UP.match(self._original(byte)) for byte in (call.start_byte, call.start_byte + 1))

    # what is counted

    def _statements(self, statements: Iterator[Node], skipped: set[int]) -> None:
        for node in statements:
            if _is_directive(node) or node.start_byte in skipped or self._is_property(node):
                continue
            place = node
            while place.parent is not None and place.parent.type == "labeled_statement":
                place = place.parent
            counter = self._count(Point(kind="statement", span=_span(node)))
            self._insertions.open(place.start_byte, place.end_byte, f"{counter};", 1)

    def _is_property(self, node: Node) -> bool:
        """Whether it is what the compiler makes of a parameter that is a property."""
        if node.type != "expression_statement" or not (node.text or b"").startswith(b"this."):
            return False
        return not self._original(node.start_byte).startswith("this")

    def _declarator(self, node: Node, skipped: set[int]) -> None:
        value = _field(node, "value")
        if value.start_byte in skipped:
            return
        if not _takes_name(value):
            self._wrapped_statement(value)
            return
        declaration = node.parent
        assert declaration is not None
        around = declaration.parent
        if around is not None and around.type == "export_statement":
            declaration, around = around, around.parent
        if around is not None and around.type in _LISTS:
            counter = self._count(Point(kind="statement", span=_span(value)))
            self._insertions.open(declaration.start_byte, declaration.end_byte, f"{counter};", 1)

    def _wrapped_statement(self, value: Node) -> None:
        if not _takes_name(value):
            self._wrap(value, self._count(Point(kind="statement", span=_span(value))))

    def _function(self, node: Node) -> None:
        body = _field(node, "body")
        named, around = node.child_by_field_name("name"), node.parent
        head = Span(start=node.start_byte, end=named.end_byte if named is not None else node.start_byte + 1)
        if named is None and around is not None and around.type in _NAMES:
            named = around.child_by_field_name(_NAMES[around.type])
        name = _text(named) if named is not None else ""
        counter = self._count(Point(kind="function", span=_span(body), name=name, head=head))
        if body.type != "statement_block":  # an arrow function that returns an expression
            returned = self._count(Point(kind="statement", span=_span(_plain(body))))
            self._wrap(body, f"{counter},{returned}")
            return
        self._insertions.open(_after_directives(body), body.end_byte, f"{counter};", 0)

    def _branches(self, nodes: Callable[[str], Iterator[Node]]) -> None:
        for node in nodes("if"):
            self._if(node)
        for body in nodes("switch"):
            self._switch(body)
        for node in nodes("ternary"):
            self._arms("cond-expr", node, [_field(node, "consequence"), _field(node, "alternative")])
        inner: set[int] = set()
        for node in nodes("logical"):
            if node.id not in inner:
                self._arms("binary-expr", node, list(_leaves(node, inner)))
        for node in nodes("default"):
            right = _field(node, "right")
            if not _takes_name(right):
                self._arms("default-arg", node, [right])

    def _if(self, node: Node) -> None:
        then, otherwise = _field(node, "consequence"), node.child_by_field_name("alternative")
        other = otherwise.named_children[-1] if otherwise is not None else None
        arms: list[Span | None] = [] if self._is_ignored(then) else [_span(node)]
        has_first = bool(arms)
        has_second = node.id not in self._without_else if other is None else not self._is_ignored(other)
        if has_second:
            arms.append(None if other is None else _span(other))
        counters = self._counters(Point(kind="if", span=_span(node), arms=tuple(arms))) if arms else []
        self._braces(then, f"{counters[0]};" if has_first else "")
        if other is not None:
            self._braces(other, f"{counters[-1]};" if has_second else "")
        elif has_second:
            self._insertions.close(node.start_byte, node.end_byte, f" else{{{counters[-1]}}}", 0)

    def _switch(self, body: Node) -> None:
        found = [case for case in body.named_children if case.type in ("switch_case", "switch_default")]
        cases = [case for case in found if not self._is_ignored(case)]
        around = body.parent
        assert around is not None
        if not cases:
            return
        point = Point(kind="switch", span=_span(around), arms=tuple(map(_span, cases)))
        for case, counter in zip(cases, self._counters(point), strict=True):
            colon = next(child for child in case.children if child.type == ":")
            self._insertions.open(colon.end_byte, case.end_byte, f"{counter};", 0)

    def _arms(self, kind: str, node: Node, arms: list[Node]) -> None:
        arms = [arm for arm in arms if not self._is_ignored(_plain(arm))]
        if not arms:
            return
        point = Point(kind=kind, span=_span(node), arms=tuple(map(_span, arms)))
        for arm, counter in zip(arms, self._counters(point), strict=True):
            self._wrap(arm, counter)

    # its counters

    def _counters(self, point: Point) -> list[str]:
        first = self._next
        self._points.append(point)
        self._next += point.counters
        return [f"{COUNTERS}[{number}]++" for number in range(first, self._next)]

    def _count(self, point: Point) -> str:
        return self._counters(point)[0]

    def _wrap(self, node: Node, counters: str) -> None:
        self._insertions.wrap(node.start_byte, node.end_byte, f"({counters},", ")", 2)

    def _braces(self, body: Node, counter: str) -> None:
        """Puts a counter first in a body, which gets braces if it has none."""
        if body.type != "statement_block":
            self._insertions.wrap(body.start_byte, body.end_byte, f"{{{counter}", "}", 0)
        elif counter:
            self._insertions.open(body.start_byte + 1, body.end_byte, counter, 0)


def _span(node: Node) -> Span:
    return Span(start=node.start_byte, end=node.end_byte)


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None, f"{node.type} has no {name}"
    return found


def _plain(node: Node) -> Node:
    """What is in brackets, which the compiler puts around what has a hint before it."""
    while node.type == "parenthesized_expression":
        inside = [child for child in node.named_children if child.type != "comment"]
        if len(inside) != 1:
            break
        node = inside[0]
    return node


def _takes_name(value: Node) -> bool:
    return _plain(value).type in _NAMED_BY_PLACE


def _leaves(node: Node, inner: set[int]) -> Iterator[Node]:
    """The operands of a chain of logical operators, whatever its brackets."""
    for side in ("left", "right"):
        operand = _field(node, side)
        plain = _plain(operand)
        if plain.type == "binary_expression" and _text(_field(plain, "operator")) in ("&&", "||", "??"):
            inner.add(plain.id)
            yield from _leaves(plain, inner)
        else:
            yield operand


def _is_directive(node: Node) -> bool:
    """Whether it is a text at the beginning of a script or function, such as "use strict"."""
    if node.type != "expression_statement" or node.named_child_count != 1 or node.named_children[0].type != "string":
        return False
    before = node.prev_named_sibling
    while before is not None and (before.type in ("comment", "hash_bang_line") or _is_directive(before)):
        before = before.prev_named_sibling
    around = node.parent
    return before is None and around is not None and around.type in ("program", "statement_block")


def _after_directives(body: Node) -> int:
    at = body.start_byte + 1
    for child in body.named_children:
        if not _is_directive(child):
            break
        at = child.end_byte
    return at
