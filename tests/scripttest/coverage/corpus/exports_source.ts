export const one = 1;
export let two = one || 2;
export function three() { return 3; }
