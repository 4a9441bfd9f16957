abstract class Base {
  abstract area(): number;
  protected abstract get unit(): string;
  constructor(public name = "base", private readonly size?: number) {}
  get half() { return (this.size ?? 0) / 2; }
  set half(value: number) { this.name = `${value}`; }
  static { Base.count = 1; if (Base.count > 1) { Base.count = 0; } }
  static count = 0;
  #secret() { return 1; }
  ask() { return this.#secret(); }
}
export class Square extends Base {
  constructor() { super("square", 4); this.half = 3; }
  override area(): number { return 1; }
  get unit() { return "cm"; }
}
const square = new Square();
square.ask();
square.half;
