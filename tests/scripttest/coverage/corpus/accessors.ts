export class Cart {
  accessor total = 1;
  static accessor shared = 2;
  accessor = 3;
  static accessor #inner = 4;
  add(n: number) { this.total += n; return Cart.#inner; }
}
new Cart().add(1);
