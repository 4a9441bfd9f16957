import { HttpError, matched, paged, query, type Request, Router, weight } from "./routes";

const made = () => new Router().on("get", "/items", () => [1, 2]).on("GET", "/items/:id", ({ params }) => ({ id: params.id })).on("post", "/items", ({ body }) => body, "editor").on("delete", "/items/:id", () => undefined, "editor", "admin");
const ask = (method: string, url: string, more: Partial<Request> = {}) => made().handle({ method, url, ...more });
const by = (...roles: string[]) => ({ user: { id: "eva", roles } });
const numbers = Array.from({ length: 25 }, (_, at) => at);

export function TestQueryOfNothing(t: testing.T) { t.assert.Equal([query(""), query("?")], [{}, {}]); }
export function TestQueryPairs(t: testing.T) { t.assert.Equal(query("?a=1&b=2"), { a: "1", b: "2" }); }
export function TestQueryWithoutValue(t: testing.T) { t.assert.Equal(query("a&b="), { a: "", b: "" }); }
export function TestQueryTwice(t: testing.T) { t.assert.Equal(query("a=1&a=2"), { a: ["1", "2"] }); }
export function TestQueryThrice(t: testing.T) { t.assert.Len(query("a=1&a=2&a=3").a, 3); }
export function TestQueryDecodes(t: testing.T) { t.assert.Equal(query("a=x%20y+z"), { a: "x y z" }); }
export function TestQueryDecodesNames(t: testing.T) { t.assert.Equal(query("a%5B%5D=1"), { "a[]": "1" }); }
export function TestQueryBroken(t: testing.T) { t.assert.Equal(query("a=%zz"), { a: "%zz" }); }
export function TestQueryKeepsEquals(t: testing.T) { t.assert.Equal(query("a=b=c"), { a: "b=c" }); }
export function TestMatchesPlain(t: testing.T) { t.assert.Equal(matched(["a", "b"], "/a/b"), {}); }
export function TestMatchesNot(t: testing.T) { t.assert.Nil(matched(["a", "b"], "/a/c")); }
export function TestMatchesTooShort(t: testing.T) { t.assert.Nil(matched(["a", "b"], "/a")); }
export function TestMatchesTooLong(t: testing.T) { t.assert.Nil(matched(["a"], "/a/b")); }
export function TestMatchesParams(t: testing.T) { t.assert.Equal(matched(["a", ":id"], "/a/7"), { id: "7" }); }
export function TestMatchesDecoded(t: testing.T) { t.assert.Equal(matched([":name"], "/x%20y"), { name: "x y" }); }
export function TestMatchesOptional(t: testing.T) { t.assert.Equal([matched(["a", ":id?"], "/a"), matched(["a", ":id?"], "/a/7")], [{}, { id: "7" }]); }
export function TestMatchesRest(t: testing.T) { t.assert.Equal(matched(["a", "*"], "/a/b/c"), { rest: "b/c" }); }
export function TestMatchesSlashes(t: testing.T) { t.assert.NotNil(matched(["a", "b"], "//a//b/")); }
export function TestWeights(t: testing.T) { t.assert.Equal([["a"], [":a"], [":a?"], ["*"]].map(weight), [3, 2, 1, 0]); }
export function TestWeightOfSeveral(t: testing.T) { t.assert.Greater(weight(["a", ":b"]), weight([":a", "b"])); }
export async function TestGets(t: testing.T) { t.assert.Equal((await ask("GET", "/items")).body, [1, 2]); }
export async function TestGetsWithStatus(t: testing.T) { t.assert.Equal((await ask("get", "/items")).status, 200); }
export async function TestGetsOne(t: testing.T) { t.assert.Equal((await ask("GET", "/items/7")).body, { id: "7" }); }
export async function TestGetsType(t: testing.T) { t.assert.Contains((await ask("GET", "/items")).headers["content-type"], "json"); }
export async function TestNotFound(t: testing.T) { t.assert.Equal(await ask("GET", "/nothing"), { status: 404, body: { error: "nothing at /nothing" }, headers: { "content-type": "application/json" } }); }
export async function TestMethodNotAllowed(t: testing.T) { const got = await ask("PUT", "/items/7"); t.assert.Equal([got.status, got.headers.allow], [405, "DELETE, GET"]); }
export async function TestHead(t: testing.T) { const got = await ask("HEAD", "/items"); t.assert.Equal([got.status, got.body], [200, null]); }
export async function TestUnknown(t: testing.T) { t.assert.Equal((await ask("POST", "/items", { body: {} })).status, 401); }
export async function TestForbidden(t: testing.T) { t.assert.Equal((await ask("POST", "/items", by("reader"))).body, { error: "eva may not do that" }); }
export async function TestAllowed(t: testing.T) { const got = await ask("POST", "/items", { ...by("editor"), body: { n: 1 } }); t.assert.Equal([got.status, got.body], [201, { n: 1 }]); }
export async function TestOneOfTheRoles(t: testing.T) { t.assert.Equal((await ask("DELETE", "/items/7", by("x", "admin"))).status, 204); }
export async function TestNoContent(t: testing.T) { t.assert.Equal((await ask("DELETE", "/items/7", by("editor"))).headers["content-type"], "none"); }
export async function TestNullUser(t: testing.T) { t.assert.Equal((await ask("DELETE", "/items/7", { user: null })).status, 401); }
export async function TestBrokenHandler(t: testing.T) { t.assert.Equal((await new Router().on("GET", "/", () => { throw new Error("x"); }).handle({ method: "GET", url: "/" })).body, { error: "internal" }); }
export async function TestHandlerWithStatus(t: testing.T) { t.assert.Equal((await new Router().on("GET", "/", () => { throw new HttpError(418, "tea"); }).handle({ method: "GET", url: "/" })).status, 418); }
export async function TestAsyncHandler(t: testing.T) { t.assert.Equal((await new Router().on("GET", "/", async () => 5).handle({ method: "GET", url: "/" })).body, 5); }
export async function TestPlainBeforeParams(t: testing.T) { const one = new Router().on("GET", "/:id", () => "param").on("GET", "/new", () => "plain"); t.assert.Equal((await one.handle({ method: "GET", url: "/new" })).body, "plain"); }
export async function TestQueryReachesHandlers(t: testing.T) { const one = new Router().on("GET", "/", ({ query }) => query); t.assert.Equal((await one.handle({ method: "GET", url: "/?a=1" })).body, { a: "1" }); }
export async function TestMiddlewareIsAround(t: testing.T) { const said: string[] = []; await made().use(async (_, next) => { said.push("in"); const got = await next(); said.push("out"); return got; }).handle({ method: "GET", url: "/items" }); t.assert.Equal(said, ["in", "out"]); }
export async function TestMiddlewaresInOrder(t: testing.T) { const said: number[] = []; await made().use((_, next) => (said.push(1), next())).use((_, next) => (said.push(2), next())).handle({ method: "GET", url: "/items" }); t.assert.Equal(said, [1, 2]); }
export async function TestMiddlewareRefuses(t: testing.T) { t.assert.Equal((await made().use(async () => { throw new HttpError(429, "slow"); }).handle({ method: "GET", url: "/items" })).status, 429); }
export function TestFirstPage(t: testing.T) { t.assert.Equal(paged(numbers, {}).items, numbers.slice(0, 10)); }
export function TestNextPage(t: testing.T) { t.assert.Equal([paged(numbers, { page: "2" }).next, paged(numbers, { page: "3" }).next], [3, null]); }
export function TestPageSize(t: testing.T) { t.assert.Equal([paged(numbers, { size: "5", page: "2" }).items[0], paged(numbers, { size: "99" }, 20).items.length], [5, 20]); }
export function TestBrokenPage(t: testing.T) { t.assert.Equal(paged(numbers, { page: "-3" }).items[0], 0); }
