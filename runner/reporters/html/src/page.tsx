/** The frame of every page: title, button for the theme, footer. */

import type { ComponentChildren } from "preact";
import { visible } from "./format";
import { ThemeButton } from "./theme";

interface Props {
  title: ComponentChildren;
  theme: string;
  onTheme: () => void;
  version: string;
  /** Id and name of the main part, for a link that skips to it. */
  main?: [id: string, name: string];
  /** Links to other pages. */
  links?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, theme, onTheme, version, main, links, children }: Props) {
  return (
    <>
      {main && (
        <a class="skip" href={`#${main[0]}`} onClick={(event) => {
          event.preventDefault();
          document.getElementById(main[0])?.focus();
        }}>Skip to the {main[1]}</a>
      )}
      <header>
        <svg class="logo" viewBox="0 0 22 22" aria-hidden="true"><path d="M6.5 11.5l3.2 3.2 6-7.2" /></svg>
        {links}
        <h1>{title}</h1>
        <span class="space" />
        <ThemeButton theme={theme} onChoose={onTheme} />
        <button type="button" class="button" onClick={() => print()}>Print</button>
      </header>
      <main>{children}</main>
      <footer class="faint">yao-test {visible(version)}</footer>
    </>
  );
}
