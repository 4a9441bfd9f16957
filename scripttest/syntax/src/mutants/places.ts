/**
 * Where the mutants of a node can be switched on and off: the node itself or, where another expression would mean something
 * else there, one around it.
 */

import type { Node } from "../tree";
import { type At, isCallNode } from "./at";

const EXPRESSION = /(Expression|Literal)$|^Identifier$/;
const NONE = /^(TS|JSX|Directive|InterpreterDirective|Parenthesized)/;
const MEMBERS = new Set(["MemberExpression", "OptionalMemberExpression"]);
const CHAINS = new Set(["OptionalMemberExpression", "OptionalCallExpression", "TSNonNullExpression"]);

/** The innermost place around a node, which is that itself if it can be; null when there is none. */
export function placeOf(at: At): At | null {
  for (let one: At | null = at; one !== null; one = one.parent) {
    if (isPlace(one)) return one;
    if (!EXPRESSION.test(one.node.type) && !/^(TS\w+Expression|ObjectProperty|SpreadElement|TemplateElement)$/.test(one.node.type)) return null;
  }
  return null;
}

function isPlace({ node, key, parent }: At): boolean {
  if (parent === null || !EXPRESSION.test(node.type) || NONE.test(node.type)) return false;
  const around = parent.node;
  switch (around.type) {
    case "AssignmentExpression":
    case "ForInStatement":
    case "ForOfStatement":
    case "AssignmentPattern":
      return key !== "left";
    case "UpdateExpression":
    case "TaggedTemplateExpression":
    case "RestElement":
    case "ArrayPattern":
    case "ImportExpression":
      return false;
    case "UnaryExpression":
      return around.operator !== "delete" && around.operator !== "typeof";
    case "ObjectProperty":
    case "ClassProperty":
    case "ObjectMethod":
    case "ClassMethod":
      return (key !== "key" || around.computed === true) && parent.parent?.node.type !== "ObjectPattern";
  }
  if (key === "callee" && MEMBERS.has(node.type)) return false;
  if (isCallNode(around) && (around.callee as Node).type === "Import") return false;
  if (key === "property" && around.computed !== true) return false;
  const goesOn = key === "object" || key === "callee" || key === "expression";
  return !(goesOn && CHAINS.has(around.type) && CHAINS.has(node.type));
}
