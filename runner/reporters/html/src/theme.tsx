/** The theme: light, dark, or that of the system. */

import { useEffect, useState } from "preact/hooks";

const KEY = "yao-test-theme";
const NEXT: Record<string, string> = { auto: "light", light: "dark", dark: "auto" };
const NAMES: Record<string, string> = { auto: "Auto", light: "Light", dark: "Dark" };

/** Returns the chosen theme, a function that chooses the next one, and a text that changes whenever the colours change. */
export function useTheme(): [string, () => void, string] {
  const [theme, setTheme] = useState(saved);
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setDark(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  document.documentElement.dataset.theme = theme;
  const choose = () => {
    const next = NEXT[theme];
    setTheme(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // A page from a file may have no storage; the choice then lasts as long as the page.
    }
  };
  return [theme, choose, `${theme} ${dark}`];
}

function saved(): string {
  try {
    const found = localStorage.getItem(KEY);
    return found !== null && found in NEXT ? found : "auto";
  } catch {
    return "auto";
  }
}

export function ThemeButton({ theme, onChoose }: { theme: string; onChoose: () => void }) {
  return (
    <button type="button" class="button" onClick={onChoose} title="Change the colours">
      Theme: {NAMES[theme]}
    </button>
  );
}
