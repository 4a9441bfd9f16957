/** The pages of `yao-test view`. The path of the address says which one is shown. */

import { type FunctionComponent, render } from "preact";
import { useTheme } from "../theme";
import "../styles.css";
import "./view.css";
import { ComparePage } from "./compare";
import { RunPage } from "./run";
import { RunsPage } from "./runs";
import type { Look } from "./shell";
import { TestPage } from "./test";
import { TestsPage } from "./tests";

const PAGES: Record<string, FunctionComponent<Look>> = {
  "/": RunsPage, "/run": RunPage, "/tests": TestsPage, "/test": TestPage, "/compare": ComparePage,
};

function App() {
  const [theme, onTheme, colours] = useTheme();
  const Shown = PAGES[location.pathname] ?? RunsPage;
  return <Shown theme={theme} onTheme={onTheme} colours={colours} />;
}

render(<App />, document.getElementById("app")!);
