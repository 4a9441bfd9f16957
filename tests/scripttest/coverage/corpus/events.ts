export class Emitter<Events extends Record<string, unknown[]>> {
  #handlers: { [K in keyof Events]?: ((...args: Events[K]) => void)[] } = {};
  on<K extends keyof Events>(name: K, handler: (...args: Events[K]) => void): this { (this.#handlers[name] ??= []).push(handler); return this; }
  emit<K extends keyof Events>(name: K, ...args: Events[K]): number {
    const found = this.#handlers[name] ?? [];
    for (const handler of found) { try { handler(...args); } catch (error) { if (!(error instanceof Error)) throw error; } }
    return found.length;
  }
}
new Emitter<{ a: [number] }>().on("a", (n) => { n; }).emit("a", 1);
