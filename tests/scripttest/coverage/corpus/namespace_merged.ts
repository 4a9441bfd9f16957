function price(n: number) { return n * price.rate; }
namespace price {
  export let rate = 2;
  export class Table { rows = [1, 2]; first() { return this.rows[0]; } }
}
class Box { static make() { return new Box(); } }
namespace Box { export const spare = Box.make() && null; }
enum Color { Red }
namespace Color { export function parse(text: string) { return text === "red" ? Color.Red : undefined; } }
price(1);
new price.Table().first();
Color.parse("blue");
export { Box };
