/** The frame of every page of `yao-test view`. */

import type { ComponentChildren } from "preact";
import { Page } from "../page";
import { visible } from "../format";
import { hrefOf } from "./api";

interface Props {
  title: ComponentChildren;
  version?: string;
  theme: string;
  onTheme: () => void;
  main?: [id: string, name: string];
  /** An error message, if something went wrong. */
  problem?: string;
  children?: ComponentChildren;
}

export interface Look {
  theme: string;
  onTheme: () => void;
  /** A text that changes whenever the colours change. */
  colours: string;
}

export function Shell({ title, version = "", theme, onTheme, main, problem, children }: Props) {
  const here = location.pathname;
  const links = (
    <nav aria-label="Pages">
      {[["/", "Runs"], ["/tests", "Tests"]].map(([path, name]) => <a href={hrefOf(path)} aria-current={here === path ? "page" : undefined}>{name}</a>)}
    </nav>
  );
  return (
    <Page title={title} theme={theme} onTheme={onTheme} version={version} main={main} links={links}>
      {problem && <p class="banner error" role="alert">{visible(problem)}</p>}
      {children}
    </Page>
  );
}

export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
