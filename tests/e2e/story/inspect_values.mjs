// Writes what node's inspector says of the values in `values.jsonl`, from which `test_shown_values.py` reads what a story has to show:
//
//     node tests/e2e/story/inspect_values.mjs
//
// The file has one JSON object a line: `of`, an expression, and `is`, its value as `Runtime.evaluate` and `Runtime.getProperties` of the
// inspector's protocol describe it. To add a value, add a line with `of` alone, and run this. Made with node 20.

import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

const DEEPEST = 8;
const HIDDEN = ["stack", "length"];
const file = new URL("values.jsonl", import.meta.url);
const session = new Session();
session.connect();

/** The properties of an object that a debugger shows, as lists of key and value; and those that only the engine knows. */
async function inside(remote, around) {
  const own = { objectId: remote.objectId, ownProperties: true };
  const { result, internalProperties = [] } = await session.post("Runtime.getProperties", own);
  const isError = remote.subtype === "error";
  const fields = [];
  for (const one of result) {
    const isOfError = isError && ["cause", "errors"].includes(one.name);
    if ((!one.enumerable && !isOfError) || HIDDEN.includes(one.name) || one.name === "__proto__") continue;
    const value = one.value ? await told(one.value, [...around, remote]) : { type: [one.get?.objectId && "get", one.set?.objectId && "set"].filter(Boolean).join("/") };
    fields.push([one.symbol ? { symbol: one.symbol.description } : one.name, value]);
  }
  const name = result.find((one) => one.name === "name")?.value?.value;
  const length = result.find((one) => one.name === "length")?.value?.value;
  const within = {};
  for (const { name, value } of internalProperties) {
    if (["[[Entries]]", "[[PromiseResult]]", "[[PrimitiveValue]]", "[[Uint8Array]]"].includes(name)) within[name] = await told(value, [...around, remote]);
    if (name === "[[PromiseState]]") within[name] = value.value;
  }
  const lastIndex = remote.subtype === "regexp" ? { lastIndex: result.find((one) => one.name === "lastIndex").value.value } : {};
  return { ...(fields.length && { fields }), ...(name && { name }), ...(remote.subtype === "array" && { length }), ...within, ...lastIndex };
}

/** Whether an object is one of those that it is in. */
async function isAround({ objectId }, around) {
  const functionDeclaration = "function (...around) { return around.includes(this); }";
  const given = { objectId, functionDeclaration, arguments: around.map((one) => ({ objectId: one.objectId })) };
  return (await session.post("Runtime.callFunctionOn", given)).result.value;
}

async function told(remote, around = []) {
  const { type, subtype, className, value, unserializableValue, description = "" } = remote;
  if (!remote.objectId) return unserializableValue ? { type, text: unserializableValue } : type === "symbol" ? { type, text: description } : { type, value };
  if (type === "symbol") return { type, text: description };
  if (await isAround(remote, around)) return { type: "circular" };
  const head = { type, ...(subtype && { subtype }), ...(type === "function" ? { isClass: description.startsWith("class") } : { class: className }) };
  if (subtype === "error") head.text = description.split("\n    at ")[0];
  if (subtype === "regexp") head.text = description;
  if (["typedarray", "arraybuffer", "dataview", "array"].includes(subtype)) head.size = Number(/\((\d+)\)$/.exec(description)?.[1]);
  if (subtype === "date") {
    const iso = "function () { return isNaN(this) ? 'Invalid' : this.toISOString(); }";
    head.text = (await session.post("Runtime.callFunctionOn", { objectId: remote.objectId, functionDeclaration: iso })).result.value;
  }
  return around.length > DEEPEST || subtype === "proxy" ? head : { ...head, ...(await inside(remote, around)) };
}

const lines = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line).of);
let text = "";
for (const of of lines) {
  const { result, exceptionDetails } = await session.post("Runtime.evaluate", { expression: `(${of})` });
  if (exceptionDetails) throw new Error(`${of}: ${result.description}`);
  text += `${JSON.stringify({ of, is: await told(result) })}\n`;
}
writeFileSync(file, text);
