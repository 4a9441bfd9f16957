import { cells, grouped, joined, read, sortedBy, write } from "./csv";

const TOWNS = [{ town: "Oslo", size: "70" }, { town: "Bergen", size: "29" }, { town: "Moss", size: "5" }];

export function TestOneCell(t: testing.T) { t.assert.Equal(cells("a"), [["a"]]); }
export function TestOneRow(t: testing.T) { t.assert.Equal(cells("a,b,c"), [["a", "b", "c"]]); }
export function TestTwoRows(t: testing.T) { t.assert.Equal(cells("a,b\nc,d"), [["a", "b"], ["c", "d"]]); }
export function TestLastLineEnd(t: testing.T) { t.assert.Equal(cells("a\nb\n"), [["a"], ["b"]]); }
export function TestNothingAtAll(t: testing.T) { t.assert.Equal(cells(""), []); }
export function TestEmptyCells(t: testing.T) { t.assert.Equal(cells(",a,\n"), [["", "a", ""]]); }
export function TestEmptyLineIsARow(t: testing.T) { t.assert.Equal(cells("a\n\nb"), [["a"], [""], ["b"]]); }
export function TestQuotedCell(t: testing.T) { t.assert.Equal(cells('"a,b",c'), [["a,b", "c"]]); }
export function TestQuotedLineEnd(t: testing.T) { t.assert.Equal(cells('"a\nb"'), [["a\nb"]]); }
export function TestDoubledQuote(t: testing.T) { t.assert.Equal(cells('"a ""b"""'), [['a "b"']]); }
export function TestEmptyQuotes(t: testing.T) { t.assert.Equal(cells('"",a'), [["", "a"]]); }
export function TestOpenQuote(t: testing.T) { t.assert.Panic(() => cells('"a')); }
export function TestQuoteWithinACell(t: testing.T) { t.assert.Panic(() => cells('a"b')); }
export function TestTextBehindAQuote(t: testing.T) { t.assert.Panic(() => cells('"a"b')); }
export function TestWindowsLineEnds(t: testing.T) { t.assert.Equal(cells("a\r\nb\r\n"), [["a"], ["b"]]); }
export function TestLoneReturn(t: testing.T) { t.assert.Equal(cells("a\rb"), [["a\rb"]]); }
export function TestOtherSeparator(t: testing.T) { t.assert.Equal(cells("a;b,c", { separator: ";" }), [["a", "b,c"]]); }
export function TestOtherQuote(t: testing.T) { t.assert.Equal(cells("'a,b'", { quote: "'" }), [["a,b"]]); }
export function TestTabs(t: testing.T) { t.assert.Len(cells("a\tb\tc", { separator: "\t" })[0], 3); }
export function TestReadNames(t: testing.T) { t.assert.Equal(read("a,b\n1,2"), [{ a: "1", b: "2" }]); }
export function TestReadTrimsNames(t: testing.T) { t.assert.Equal(read(" a , b\n1,2"), [{ a: "1", b: "2" }]); }
export function TestReadKeepsBlanksOfCells(t: testing.T) { t.assert.Equal(read("a\n x "), [{ a: " x " }]); }
export function TestReadShortRows(t: testing.T) { t.assert.Equal(read("a,b\n1"), [{ a: "1", b: "" }]); }
export function TestReadLongRows(t: testing.T) { t.assert.Len(read("a\n1,2"), 1); }
export function TestReadSkipsBlankRows(t: testing.T) { t.assert.Equal(read("a,b\n , \n1,2\n\n"), [{ a: "1", b: "2" }]); }
export function TestReadNothing(t: testing.T) { t.assert.Equal(read(""), []); }
export function TestReadOnlyAHeader(t: testing.T) { t.assert.Len(read("a,b\n"), 0); }
export function TestReadWithoutHeader(t: testing.T) { t.assert.Equal(read("1,2\n3,4", { header: false }), [{ c1: "1", c2: "2" }, { c1: "3", c2: "4" }]); }
export function TestReadByteOrderMark(t: testing.T) { t.assert.Equal(read("\uFEFFa\n1"), [{ a: "1" }]); }
export function TestWriteRows(t: testing.T) { t.assert.Equal(write([{ a: "1", b: "2" }]), "a,b\n1,2"); }
export function TestWriteNothing(t: testing.T) { t.assert.Equal(write([]), ""); }
export function TestWriteQuotes(t: testing.T) { t.assert.Equal(write([{ a: 'say "hi"' }]), 'a\n"say ""hi"""'); }
export function TestWriteSeparators(t: testing.T) { t.assert.Equal(write([{ a: "1,2" }]), 'a\n"1,2"'); }
export function TestWriteBlanks(t: testing.T) { t.assert.Contains(write([{ a: " x" }]), '" x"'); }
export function TestWriteNames(t: testing.T) { t.assert.Equal(write([{ a: "1", b: "2" }], ["b"]), "b\n2"); }
export function TestWriteMissing(t: testing.T) { t.assert.Equal(write([{ a: "1" }, {}]), "a\n1\n"); }
export function TestWriteTabs(t: testing.T) { t.assert.Equal(write([{ a: "1,5", b: "x\ty" }], ["a", "b"], "\t"), 'a\tb\n1,5\t"x\ty"'); }
export function TestRoundTrip(t: testing.T) { t.assert.Equal(read(write(TOWNS)), TOWNS); }
export function TestSortsNumbers(t: testing.T) { t.assert.Equal(sortedBy(TOWNS, "size").map(({ size }) => size), ["5", "29", "70"]); }
export function TestSortsTexts(t: testing.T) { t.assert.Equal(sortedBy(TOWNS, "town").map(({ town }) => town), ["Bergen", "Moss", "Oslo"]); }
export function TestSortsDescending(t: testing.T) { t.assert.Equal(sortedBy(TOWNS, "size", true)[0].town, "Oslo"); }
export function TestSortKeepsTheRows(t: testing.T) { sortedBy(TOWNS, "size"); t.assert.Equal(TOWNS[0].town, "Oslo"); }
export function TestGroups(t: testing.T) { t.assert.Equal([...grouped([{ a: "1" }, { a: "2" }, { a: "1" }], "a").values()].map((group) => group.length), [2, 1]); }
export function TestJoins(t: testing.T) { t.assert.Equal(joined([{ id: "1" }], [{ id: "1", name: "x" }], "id"), [{ id: "1", name: "x" }]); }
export function TestJoinsWithoutAPartner(t: testing.T) { t.assert.Equal(joined([{ id: "1" }, { id: "2" }], [{ id: "2", name: "x" }], "id").length, 2); }
