const maybe: any = { a: { b: () => 1 } };
export const r = maybe?.a?.b?.() ?? maybe.c?.[0]?.d ?? 2;
delete maybe?.a?.b;
maybe?.a && (maybe.a.c = r);
