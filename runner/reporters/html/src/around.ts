/** What a page around the report adds to its results; a report in a file adds nothing. */

import { type ComponentChildren, createContext } from "preact";
import type { Attachment, Result, Row } from "./model";

export interface Around {
  /** Beside the buttons of a result. */
  actions(at: number, row: Row, result: Result): ComponentChildren;
  /** Below why it failed. */
  below(at: number, row: Row, result: Result): ComponentChildren;
  /** A file that was sent, as a picture if it is one; null shows its name. */
  picture(at: number, file: Attachment): ComponentChildren;
}

export const AroundResults = createContext<Around | null>(null);

/** The position of the result that is shown, and all files that were sent in it. */
export const At = createContext<{ at: number; files: Attachment[] }>({ at: -1, files: [] });
