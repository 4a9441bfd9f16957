export function plain(a, b = 2) { return a ? b : a && b; }
export const later = async () => { await null; };
export class Old { #x = 1; has(o) { return #x in o; } }
plain(1);
