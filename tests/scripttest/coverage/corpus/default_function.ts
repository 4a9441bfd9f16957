export default function (a = 1) { return a; }
