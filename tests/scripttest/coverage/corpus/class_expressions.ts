export const Anonymous = class { static label = this.name; };
export const Named = class Inner { self() { return Inner; } };
export default class extends Anonymous { go() { return super.constructor; } }
let Later;
Later = class { x = 1; };
new Named().self();
