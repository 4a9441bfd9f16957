export enum Made { A = [1, 2].map((n) => n + 1).length, B = (() => 7)(), C = (base() ?? 3) as number }
function base() { return null; }
