const one = 1;
export default { a: one, go: () => one || 2, stop() { return; } };
