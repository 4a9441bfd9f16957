export function /* name */ noisy(/* first */ a /* : */ = /* default */ 1 /* end */) /* body */ { /* in */
  // before
  if (/* test */ a /* done */) /* then */ { return /* value */ a /* after */; } /* else */ else /* other */ { a; } // tail
  switch (a) { /* one */ case 1 /* colon */ : /* two */ a; /* three */ default /* four */ : }
  return a /* left */ || /* right */ 2 // last
}
noisy();
