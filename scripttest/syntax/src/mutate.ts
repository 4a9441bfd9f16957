/** Plants mutants: a function from JSON to JSON, which `scripttest/syntax/parser.py` calls. */

import { planted } from "./mutants/planted";
import { answering } from "./tree";

export default answering({ planted });
