/** Requests: paths with parameters, queries, who may do what, and middlewares around asynchronous handlers. */
export interface Request {
  method: string;
  url: string;
  user?: { id: string; roles: string[] } | null;
  body?: unknown;
}

export interface Response {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

export interface Call extends Request {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
}

type Handler = (call: Call) => unknown | Promise<unknown>;
type Middleware = (call: Call, next: () => Promise<Response>) => Promise<Response>;

interface Route {
  method: string;
  parts: string[];
  roles: string[];
  handler: Handler;
}

export class HttpError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export function query(text: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  for (const pair of text.replace(/^\?/, "").split("&")) {
    if (!pair) continue;
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? "" : decode(pair.slice(at + 1));
    const before = found[name];
    found[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

export function matched(parts: string[], path: string): Record<string, string> | null {
  const given = path.split("/").filter((part) => part !== "");
  const params: Record<string, string> = {};
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at];
    if (part === "*") return { ...params, rest: given.slice(at).join("/") };
    const value = given[at];
    if (value === undefined) return part.endsWith("?") ? params : null;
    if (part.startsWith(":")) params[part.slice(1).replace("?", "")] = decode(value);
    else if (part !== value) return null;
  }
  return given.length > parts.length ? null : params;
}

export function weight(parts: string[]): number {
  return parts.reduce((sum, part) => sum * 4 + (part === "*" ? 0 : part.endsWith("?") ? 1 : part.startsWith(":") ? 2 : 3), 0);
}

export class Router {
  readonly #routes: Route[] = [];
  readonly #middlewares: Middleware[] = [];

  use(middleware: Middleware): this {
    this.#middlewares.push(middleware);
    return this;
  }

  on(method: string, path: string, handler: Handler, ...roles: string[]): this {
    const parts = path.split("/").filter(Boolean);
    this.#routes.push({ method: method.toUpperCase(), parts, roles, handler });
    this.#routes.sort((a, b) => b.parts.length - a.parts.length || weight(b.parts) - weight(a.parts));
    return this;
  }

  async handle(request: Request): Promise<Response> {
    const [path, search = ""] = request.url.split("?");
    const call: Call = { ...request, params: {}, query: query(search) };
    const run = (at: number): Promise<Response> => {
      const middleware = this.#middlewares[at];
      return middleware ? middleware(call, () => run(at + 1)) : this.#answer(call, path);
    };
    try {
      return await run(0);
    } catch (error) {
      if (error instanceof HttpError) return response(error.status, { error: error.message });
      return response(500, { error: "internal" });
    }
  }

  async #answer(call: Call, path: string): Promise<Response> {
    const method = call.method.toUpperCase();
    const allowed = new Set<string>();
    for (const route of this.#routes) {
      const params = matched(route.parts, path);
      if (params === null) continue;
      if (route.method !== method && !(method === "HEAD" && route.method === "GET")) {
        allowed.add(route.method);
        continue;
      }
      this.#check(route, call);
      call.params = params;
      const body = await route.handler(call);
      if (body === undefined || body === null) return response(204, null);
      return response(method === "POST" ? 201 : 200, method === "HEAD" ? null : body);
    }
    if (allowed.size > 0) return response(405, { error: "method" }, { allow: [...allowed].sort().join(", ") });
    throw new HttpError(404, `nothing at ${path}`);
  }

  #check({ roles }: Route, { user }: Call): void {
    if (roles.length === 0) return;
    if (!user) throw new HttpError(401, "who are you?");
    if (!roles.some((role) => user.roles.includes(role))) throw new HttpError(403, `${user.id} may not do that`);
  }
}

function response(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return { status, body, headers: { "content-type": body === null ? "none" : "application/json", ...headers } };
}

export function paged<T>(items: T[], query: Record<string, string | string[]>, most = 50): { items: T[]; next: number | null } {
  const page = Math.max(1, Number(query.page ?? 1) || 1);
  const size = Math.min(most, Number(query.size) || 10);
  const from = (page - 1) * size;
  return { items: items.slice(from, from + size), next: from + size < items.length ? page + 1 : null };
}
