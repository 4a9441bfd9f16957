/** What is read of scripts by the parser: a function from JSON to JSON, which `scripttest/syntax/parser.py` calls. */

import { callees } from "./callees";
import { callsIn } from "./calls";
import { inlineCalls } from "./inline";
import { instrumented } from "./instrument";
import { lastReturn, loopAt } from "./loops";
import { throwsIn } from "./throws";
import type { Position } from "./tree";

interface Request {
  question: keyof typeof QUESTIONS;
  given: never[];
}

const QUESTIONS = { callees, callsIn, inlineCalls, instrumented, lastReturn, loopAt, throwsIn };

/** Answers `{answer}`, or `{unread}` when the parser cannot read a text: why and where, `Unexpected token at 2:5`. */
export default function read(request: string): string {
  const { question, given } = JSON.parse(request) as Request;
  try {
    return JSON.stringify({ answer: (QUESTIONS[question] as (...given: never[]) => unknown)(...given) });
  } catch (error) {
    const { name, message, loc } = error as Error & { loc?: Position };
    if (name !== "SyntaxError") throw error;
    const at = loc === undefined ? "" : ` at ${loc.line}:${loc.column + 1}`;
    return JSON.stringify({ unread: message.replace(/ \(\d+:\d+\)$/, "") + at });
  }
}
