namespace A.B.C {
  export const x = 1;
  export let y = x > 1 ? "a" : "b";
  namespace Inner {
    export function never() { return 0; }
    if (y) { y = "c"; }
  }
}
namespace A {
  export namespace B {
    export const more = () => A.B.C.x;
  }
}
A.B.more();
export {};
