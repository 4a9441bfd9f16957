export function word(n: number) {
  switch (n) {
    case 1: return "one";
    case 2:
    case 3: { const x = "few"; return x; }
    default: break;
    case 4: // falls
      n++;
    case 5: return "more";
  }
  switch (n) { }
  switch (true) { default: }
  return "many";
}
word(1); word(4); word(9);
