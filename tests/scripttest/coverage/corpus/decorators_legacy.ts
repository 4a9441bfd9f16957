function seen(value: unknown) { return function (...args: unknown[]) { void args; }; }
const deep = true;
@seen(deep ? "class" : "never")
export class Decorated {
  @seen(deep && 1) field = 1;
  @seen(() => 2) method(@seen(3 || 4) given: number) { return given; }
}
