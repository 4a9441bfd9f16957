"use strict";
export function strict() { "use strict"; return this; }
export const arrow = () => { 'use strict'
  return 1 };
export function empty() { "use strict" }
export function nothing() {}
strict.call(null); nothing();
