type Constructor<T = {}> = new (...args: any[]) => T;
function Timed<B extends Constructor>(Base: B) { return class extends Base { at = Date.now(); get age() { return Date.now() - this.at; } }; }
class User { constructor(public readonly name: string = "?") {} }
export const TimedUser = Timed(User);
new TimedUser("a").age;
