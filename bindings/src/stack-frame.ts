/** A frame of a stack, as the engine gives it to `Error.prepareStackTrace`. */
export interface CallSite {
  getFunctionName(): string | null;
  getFunction(): unknown;
  getFileName(): string | null;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  isNative(): boolean;
}

/** A line of a stack, in the engine's format. The place of a wrong syntax is in no function. */
export function frame(site: CallSite, before: string): string {
  const place = site.isNative() ? "native" : site.getFileName() + ":" + site.getLineNumber() + ":" + site.getColumnNumber();
  const name = site.getFunctionName() || (site.getFunction() && "<anonymous>");
  return "    at " + before + (name ? name + " (" + place + ")" : place) + "\n";
}
