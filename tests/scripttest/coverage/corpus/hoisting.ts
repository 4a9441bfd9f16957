export const early = later();
function later() { return typeof inner; function inner() { return 1; } }
var x = 1; { var y = x; let z = y; z; }
if (x) { function inBlock() { return 2; } inBlock(); }
