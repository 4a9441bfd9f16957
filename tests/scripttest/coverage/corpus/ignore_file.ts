/* istanbul ignore file: generated */
export function never() { return 1; }
