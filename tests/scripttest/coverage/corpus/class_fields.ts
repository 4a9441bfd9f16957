let counter = 0;
export class Fields {
  plain = 1;
  empty;
  typed?: string;
  made = counter++ || 5;
  handler = () => this.plain;
  named = function inner() { return 1; };
  anonymous = function () { return 2; };
  kind = class { a = 1; };
  static shared = counter ? "x" : "y";
  static make = () => new Fields();
  "quoted name" = () => 3;
  12 = () => 4;
  ["comp" + "uted"] = () => 5;
  static ["other"] = () => 6;
  #hidden = () => 7;
  declare later: number;
  readonly fixed = 8;
  read() { return this.#hidden(); }
}
const made = Fields.make();
made.handler();
made.read();
