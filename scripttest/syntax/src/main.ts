/** What is read of scripts by the parser: a function from JSON to JSON, which `scripttest/syntax/parser.py` calls. */

import { callees } from "./callees";
import { callsIn } from "./calls";
import { focusOf } from "./focus";
import { inlineCalls } from "./inline";
import { instrumented } from "./instrument";
import { lastReturn, loopAt } from "./loops";
import { recorded } from "./recorded";
import { replInput } from "./repl";
import { answering } from "./tree";
import { watched } from "./watched";

export default answering({ callees, callsIn, focusOf, inlineCalls, instrumented, lastReturn, loopAt, recorded, replInput, watched });
