;;
export {};
a: b: for (const x of [1, 2]) { if (x > 1) break a; else continue b; }
{ ; }
{ const x = 1; { x; } }
c: if (true) { break c; }
if (0) ; else ;
while (0) ;
