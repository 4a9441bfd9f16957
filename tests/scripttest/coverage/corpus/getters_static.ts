export class Config {
  static #instance: Config | undefined;
  static get instance() { return (this.#instance ??= new Config()); }
  private constructor(private values = new Map<string, unknown>()) {}
  get<T>(key: string, otherwise?: T) { return (this.values.get(key) as T) ?? otherwise; }
  static async load() { return await Promise.resolve(Config.instance); }
}
Config.instance.get("a", 1);
