export const factorial = (n: bigint): bigint => n <= 1n ? 1n : n * factorial(n - 1n);
export function fibonacci(n: number, memo: Record<number, number> = {}): number {
  return n < 2 ? n : (memo[n] ??= fibonacci(n - 1, memo) + fibonacci(n - 2, memo));
}
factorial(5n); fibonacci(10);
