var shared = shared || {};
function twice(n) { return n * 2; }
var await_ = twice(1), yielded = function () { return arguments.length; };
shared.x = yielded(1, 2);
