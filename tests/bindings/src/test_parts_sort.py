"""`sort` and `toSorted` of arrays: the expected orders are those that Node.js gives."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

BY_REST = [17, 14, 11, 8, 5, 2, 19, 16, 13, 10, 7, 4, 1, 18, 15, 12, 9, 6, 3, 0]
SORTS = [
    ("a function that never says less leaves all as it is", "[5, 1, 4].sort((a, b) => a > b)", [5, 1, 4]),
    ("toSorted too", "((a) => [a.toSorted((x, y) => x > y), a])([3, 1, 2])", [[3, 1, 2], [3, 1, 2]]),
    ("what is equal to none is turned round", "Array.from({length: 20}, (_, i) => i).sort((a, b) => (a % 3 < b % 3 ? 1 : -1))", BY_REST),
    ("a function that says less or equal", "[2, 1, 3].sort((a, b) => (a < b ? -1 : 0))", [1, 2, 3]),
    ("it is stable", "[[1, 'a'], [0, 'b'], [1, 'c'], [0, 'd']].sort((a, b) => a[0] - b[0]).join()", "0,b,0,d,1,a,1,c"),
    ("no number is equal", "[3, 1, 2].sort(() => NaN)", [3, 1, 2]),
    ("undefined and holes come last", "((a) => [a.sort((x, y) => x - y), 2 in a, 3 in a])([3, , undefined, 1])", [[1, 3, None, None], True, False]),
    ("toSorted has no holes", "((a) => 2 in a)([3, , 1].toSorted((x, y) => x - y))", True),
    ("without a function", "[[10, 9, 1].sort(), [10, 9].toSorted(undefined)]", [[1, 10, 9], [10, 9]]),
    ("no function", "[1].sort(null)", "TypeError: not a function"),
    ("a frozen array", "Object.freeze([2, 1]).sort((a, b) => a - b)", "TypeError: '0' is read-only"),
    ("what the function throws", "[1, 2].sort(() => { throw new RangeError('q') })", "RangeError: q"),
    ("lists and typed arrays", "[Array.prototype.sort.call({0: 2, 1: 1, length: 2}, (a, b) => a - b)[0], [...new Uint8Array([2, 1]).sort((a, b) => a - b)]]", [1, [1, 2]]),
    ("an array that the function changes", "((a) => a.sort((x, y) => { a.length = 0; a.push(9); return x - y }))([3, 1, 2])", [1, 2, 3]),
    ("what sort is", "[Array.prototype.sort.name, Array.prototype.sort.length, Object.keys(Array.prototype)]", ["sort", 1, []]),
]  # fmt: skip


@each(("expression", "expected"), [row[1:] for row in SORTS], ids=[row[0] for row in SORTS])
def test_sorts(expression: str, expected: object) -> None:
    assert evaluate(expression, "sort") == expected
