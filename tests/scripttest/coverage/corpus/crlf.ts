export function lines(a?: number) {
  if (a) {
    return `one
two ${a || 1}`;
  }
  return 2;
}
lines();
