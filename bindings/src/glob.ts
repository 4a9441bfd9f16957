/** Matches names with patterns that contain `*`, for mocks and stores. */

/** Whether a text matches a pattern in which `*` stands for any number of characters, also none. */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      resume = t;
    } else if (pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star < 0) {
      return false;
    } else {
      p = star + 1;
      t = ++resume;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
