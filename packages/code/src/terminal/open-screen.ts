import { createLiveScreen, type LiveScreen, type Terminal } from "./live-screen.ts";
import { createSpokenScreen } from "./spoken-screen.ts";

export interface OpenScreenOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** True if a screen reader reads the terminal (`--screen-reader`, or the setting `screenReader`). Default: false. */
  readonly screenReader?: boolean | undefined;
}

/** Returns the screen that fits a terminal: one with a live region, or one that only appends lines. */
export function openScreen(terminal: Terminal, { environment, screenReader = false }: OpenScreenOptions): LiveScreen {
  const isDumb = environment["TERM"] === "dumb";
  return isDumb || screenReader
    ? createSpokenScreen(terminal, { sequences: !isDumb })
    : createLiveScreen(terminal, { environment, process });
}
