let a = 1
let b = a
++b
export const c = a
if (b) a = 2
else a = 3
do a++; while (a < 5) b = 1
const f = () => a
;[1, 2].forEach(n => n)
function g() { return
  1 }
g(), f()
label:
for (;;) break
