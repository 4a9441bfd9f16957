import fs = require("./exports_source");
export const got = fs.one ? fs.three() : 0;
