export const arrow = () => 1;
export const plain = function () {};
export const klass = class {};
export const __proto__ = () => 2;
export const { inner = () => 3 } = {} as any;
export function given(callback = () => 4) { return callback.name; }
class Fields { field = () => 5; static #priv = () => 6; static read = Fields.#priv.name; ["computed"] = () => 7; }
export const seen = [arrow.name, plain.name, klass.name, __proto__.name, inner.name, given(), new Fields().field.name, Fields.read, (new Fields() as any).computed.name];
