var total = 0;
function add(n) { if (n) total += n; return total; }
add(1), add(0);
for (var i in { a: 1 }) add(i.length);
with_(total);
function with_(x) { return x; }
