const on = true;
enum Level {
  Low = on ? 1 : 2,
}
namespace Fees {
  export function of(n: number): number {
    if (n > 10) {
      return n || 5;
    }
    return 1;
  }
  export const both = (a: number) => a ?? 2;
}
Fees.of(Level.Low);
export {};
