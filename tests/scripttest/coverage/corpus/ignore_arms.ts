export function arms(a: any, b?: any) {
  /* istanbul ignore if */
  if (a) { b = 1; b = 2; }
  /* istanbul ignore else */
  if (b) b = 3;
  /* istanbul ignore else */
  if (b) b = 3; else { b = 4; }
  if (a) { b = 5; } else /* istanbul ignore next */ { b = 6; b = 7; }
  const c = a ? 1 : /* istanbul ignore next */ 2;
  const d = a ? /* istanbul ignore next */ f() : 2;
  switch (a) { case 1: return c; /* istanbul ignore next */ default: return d; }
}
function f({ x = 1, /* istanbul ignore next */ y = 2 } = {} as any) { return x + y; }
arms(0, 1);
