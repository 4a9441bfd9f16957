/** What is wrong with a page; nothing when it can be published. */
export function Problems(html: string): string[] {
  const found: string[] = [];
  const open = html.match(/<[a-z]\w*/g) ?? [];
  const closed = html.match(/<\/[a-z]\w*/g) ?? [];
  if (!/<h1>/.test(html)) found.push("it has no heading");
  if (open.length !== closed.length) found.push("a tag is not closed");
  if (/<script/.test(html)) found.push("it has a script");
  return found;
}
