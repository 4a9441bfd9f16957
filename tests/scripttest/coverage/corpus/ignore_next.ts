/* istanbul ignore next */
export function skipped() { return 1 || 2; }
export function kept(a?: number) {
  /* istanbul ignore next: not here */
  if (a) { return 1; }
  // istanbul ignore next
  const never = () => 1;
  return a /* istanbul ignore next */ || 2;
}
/* istanbul ignore next */
export class Left { a = 1; b() { return 2; } }
export class Right {
  /* istanbul ignore next */
  left() { return 1; }
  /* istanbul ignore next */
  right = (a = 1) => a;
}
const text = "/* istanbul ignore next */", more = kept();
