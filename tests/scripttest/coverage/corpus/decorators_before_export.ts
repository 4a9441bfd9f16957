const mark = (value: unknown, context?: unknown) => { void value; void context; };
export @mark class Marked { go() { return 1; } }
