/** The HTML report. */

import { render } from "preact";
import type { Before } from "./detail";
import { visible } from "./format";
import { suiteName } from "./model";
import { Page } from "./page";
import { Report } from "./report";
import { inPage, isInPage, readComparison, readVariants, Store } from "./store";
import { useTheme } from "./theme";
import type { Variants } from "./variants";
import "./styles.css";

function App({ store, before, variants }: { store: Store; before: Before | null; variants: Variants | null }) {
  const [theme, chooseTheme, colours] = useTheme();
  const { suites, version } = store.index.start;
  const title = <>Test report <span class="faint">{suites.length === 1 ? visible(suiteName(suites[0])) : ""}</span></>;
  return (
    <Page title={title} theme={theme} onTheme={chooseTheme} version={version} main={["results", "results"]}>
      <Report store={store} before={before} variants={variants} colours={colours} />
    </Page>
  );
}

async function start(): Promise<void> {
  const place = document.getElementById("app")!;
  try {
    const store = await Store.open(inPage);
    const before = isInPage("baseline-") ? { store: await Store.open(inPage, "baseline-"), comparison: await readComparison() } : null;
    const variants = await readVariants();
    place.replaceChildren();
    render(<App store={store} before={before} variants={variants} />, place);
  } catch (error) {
    place.textContent = `Cannot show this report: ${error instanceof Error ? error.message : error}`;
  }
}

void start();
