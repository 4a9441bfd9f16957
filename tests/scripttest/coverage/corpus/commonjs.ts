const helper = () => 1;
function used() { return helper() || 2; }
used();
export = used;
