/** The table of assertions, in the order of the documentation. */

import type { Check } from "../kernel";
import { agent } from "./agent";
import { containsItem } from "./contains";
import { equal } from "./equal";
import { error } from "./error";
import { isFalse } from "./false";
import { greater } from "./greater";
import { greaterOrEqual } from "./greater-or-equal";
import { jsonPath } from "./json-path";
import { len } from "./len";
import { less } from "./less";
import { lessOrEqual } from "./less-or-equal";
import { match } from "./match";
import { nil } from "./nil";
import { noError } from "./no-error";
import { noPanic } from "./no-panic";
import { notContains } from "./not-contains";
import { notEqual } from "./not-equal";
import { notMatch } from "./not-match";
import { notNil } from "./not-nil";
import { panic } from "./panic";
import { isTrue } from "./true";
import { type } from "./type";

/** Each method of `t.assert` by its name. A parameter whose name ends in `?` may be left out. */
export const checks: Record<string, Check> = {
  __proto__: null as never,
  True: isTrue,
  False: isFalse,
  Equal: equal,
  NotEqual: notEqual,
  Nil: nil,
  NotNil: notNil,
  Contains: containsItem,
  NotContains: notContains,
  Len: len,
  Greater: greater,
  GreaterOrEqual: greaterOrEqual,
  Less: less,
  LessOrEqual: lessOrEqual,
  Error: error,
  NoError: noError,
  Panic: panic,
  NoPanic: noPanic,
  Match: match,
  NotMatch: notMatch,
  JSONPath: jsonPath,
  Type: type,
  Agent: agent,
};
