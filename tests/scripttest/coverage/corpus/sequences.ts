let x = 1, y = (x++, x), z;
export const s = (x, y || z);
for (x = 0, y = 2; x < y; x++, y--) z = x;
x > 1 ? x++ : y++;
x ||= y; x &&= z; z ??= x;
z = x || (y && z) || (() => 3);
void 0, x;
