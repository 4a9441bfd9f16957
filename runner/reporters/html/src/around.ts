/** What `yao-test view` adds to each result. A report in a file adds nothing. */

import { type ComponentChildren, createContext } from "preact";
import type { Attachment, Result, Row } from "./model";

export interface Around {
  /** Shown beside the buttons of a result. */
  actions(at: number, row: Row, result: Result): ComponentChildren;
  /** Shown below the reason of a failure. */
  below(at: number, row: Row, result: Result): ComponentChildren;
  /** Shows an attachment as a picture; null if its name is to be shown. */
  picture(at: number, file: Attachment): ComponentChildren;
}

export const AroundResults = createContext<Around | null>(null);

/** The position of the result that is shown, and all its attachments. */
export const At = createContext<{ at: number; files: Attachment[] }>({ at: -1, files: [] });
