function raw(strings: TemplateStringsArray, ...values: unknown[]) { return strings.raw.join("|") + values.length; }
export const windows = raw`C:\users\xerxes\u{nope} ${1 || 2} \01`;
export const nested = `a ${`b ${windows ? "c" : "d"}`} e`;
