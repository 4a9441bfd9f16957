/** Texts: addresses of pages, short forms, templates, and what is secret in them. */
export function slug(title: string): string {
  const plain = title.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
}

export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  const at = cut.lastIndexOf(" ");
  return `${(at > most / 2 ? cut.slice(0, at) : cut).trimEnd()}…`;
}

export function fill(template: string, values: Record<string, unknown>): string {
  return template.replace(/\{(\w+)(?:\|(\w+))?\}/g, (whole, name: string, filter?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (filter === "upper") return String(value).toUpperCase();
    if (filter === "lower") return String(value).toLowerCase();
    return String(value ?? "");
  });
}

export function mask(text: string): string {
  return text
    .replace(/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, (mail) => `${mail[0]}***@${mail.split("@")[1]}`)
    .replace(/\b(?:\d[ -]?){13,16}\b/g, (card) => `**** ${card.replace(/\D/g, "").slice(-4)}`);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function initials(name: string): string {
  const words = name.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return "?";
  const picked = words.length > 2 ? [words[0], words[words.length - 1]] : words;
  return picked.map((word) => word.charAt(0).toUpperCase()).join("");
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  if (line) lines.push(line);
  return lines;
}
