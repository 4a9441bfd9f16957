/** Business rules over state: accounts, bookings that balance, limits, reversals and statements. */
export interface Entry {
  account: string;
  cents: number;
}

export interface Booking {
  id: number;
  day: string;
  text: string;
  entries: Entry[];
  reverses?: number;
}

export interface Account {
  name: string;
  kind: "asset" | "debt" | "income" | "cost";
  limit?: number;
  closed?: boolean;
}

export class LedgerError extends Error {
  constructor(readonly code: string, readonly account?: string) {
    super(account ? `${code}: ${account}` : code);
    this.name = "LedgerError";
  }
}

export class Ledger {
  readonly #accounts = new Map<string, Account>();
  readonly #bookings: Booking[] = [];
  #lockedUntil = "";

  open(account: Account): void {
    if (this.#accounts.has(account.name)) throw new LedgerError("exists", account.name);
    this.#accounts.set(account.name, { ...account });
  }

  close(name: string): void {
    const account = this.#account(name);
    if (this.balance(name) !== 0) throw new LedgerError("not empty", name);
    account.closed = true;
  }

  lock(day: string): void {
    if (day > this.#lockedUntil) this.#lockedUntil = day;
  }

  book(day: string, text: string, entries: Entry[], reverses?: number): Booking {
    if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new LedgerError("no day");
    if (day <= this.#lockedUntil) throw new LedgerError("locked");
    if (entries.length < 2) throw new LedgerError("too few entries");
    if (entries.some(({ cents }) => !Number.isInteger(cents) || cents === 0)) throw new LedgerError("no amount");
    if (entries.reduce((sum, { cents }) => sum + cents, 0) !== 0) throw new LedgerError("not balanced");
    for (const { account, cents } of entries) {
      const found = this.#account(account);
      if (found.closed) throw new LedgerError("closed", account);
      const after = this.balance(account) + cents;
      if (found.limit !== undefined && cents < 0 && after < -found.limit) throw new LedgerError("over the limit", account);
    }
    const booking: Booking = { id: this.#bookings.length + 1, day, text: text.trim() || "(no text)", entries: [...entries] };
    if (reverses !== undefined) booking.reverses = reverses;
    this.#bookings.push(booking);
    return booking;
  }

  reverse(id: number, day: string): Booking {
    const booking = this.#bookings.find((one) => one.id === id);
    if (!booking) throw new LedgerError("unknown booking");
    if (this.#bookings.some((one) => one.reverses === id)) throw new LedgerError("reversed already");
    if (booking.reverses !== undefined) throw new LedgerError("is a reversal");
    const entries = booking.entries.map(({ account, cents }) => ({ account, cents: -cents }));
    return this.book(day, `Reversal of ${booking.text}`, entries, id);
  }

  balance(name: string, until = "9999-12-31"): number {
    this.#account(name);
    let sum = 0;
    for (const { day, entries } of this.#bookings) {
      if (day > until) continue;
      for (const { account, cents } of entries) if (account === name) sum += cents;
    }
    return sum;
  }

  statement(name: string, from: string, to: string): string[] {
    const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
    let sum = this.balance(name, dayBefore(from));
    const lines = [`Before ${from}: ${amount(sum)}`];
    const found = this.#bookings.filter(({ day }) => day >= from && day <= to);
    for (const { day, text, entries } of found.sort((a, b) => (a.day === b.day ? a.id - b.id : a.day < b.day ? -1 : 1))) {
      for (const { cents } of entries.filter(({ account }) => account === name)) {
        sum += cents;
        lines.push(`${day} ${text}: ${cents > 0 ? "+" : ""}${amount(cents)} = ${amount(sum)}`);
      }
    }
    return lines;
  }

  profit(): number {
    const of = (kind: Account["kind"]) => [...this.#accounts.values()].filter((one) => one.kind === kind).reduce((sum, { name }) => sum + this.balance(name), 0);
    return -of("income") - of("cost") || 0;
  }

  #account(name: string): Account {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new LedgerError("unknown", name);
    return account;
  }
}

export function amount(cents: number): string {
  const whole = Math.trunc(Math.abs(cents) / 100).toString().replace(/\B(?=(?:\d{3})+$)/g, " ");
  return `${cents < 0 ? "-" : ""}${whole}.${String(Math.abs(cents) % 100).padStart(2, "0")}`;
}
