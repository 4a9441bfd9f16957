/**
 * The table of assertions: the methods of `t.assert` and `t.require`, in the order of the documentation. The build makes
 * a part `check.<Name>` of each one, and passes their names to the core.
 */

export { isTrue as True } from "./true";
export { isFalse as False } from "./false";
export { equal as Equal } from "./equal";
export { notEqual as NotEqual } from "./not-equal";
export { nil as Nil } from "./nil";
export { notNil as NotNil } from "./not-nil";
export { containsItem as Contains } from "./contains";
export { notContains as NotContains } from "./not-contains";
export { len as Len } from "./len";
export { greater as Greater } from "./greater";
export { greaterOrEqual as GreaterOrEqual } from "./greater-or-equal";
export { less as Less } from "./less";
export { lessOrEqual as LessOrEqual } from "./less-or-equal";
export { error as Error } from "./error";
export { noError as NoError } from "./no-error";
export { panic as Panic } from "./panic";
export { noPanic as NoPanic } from "./no-panic";
export { match as Match } from "./match";
export { notMatch as NotMatch } from "./not-match";
export { jsonPath as JSONPath } from "./json-path";
export { type as Type } from "./type";
export { agent as Agent } from "./agent";
