export const a = "if (x) { return; }", b = 'namespace Q {', c = `enum E { A = ${a ? 1 : 2} }`;
export const é = "ünïcode 😀", d = é.length > 3 && "日本語" || "𝒳";
export function größe(x = "😀" || "b") { return x; } größe();
