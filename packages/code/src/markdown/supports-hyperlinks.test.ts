import { expect, it } from "vitest";
import { supportsHyperlinks } from "./supports-hyperlinks.ts";

it.each([
  [{ TERM_PROGRAM: "iTerm.app" }, true],
  [{ TERM: "xterm-kitty" }, true],
  [{ TERM: "xterm-256color", VTE_VERSION: "7600" }, true],
  [{ WT_SESSION: "x" }, true],
  [{ TERM: "xterm-256color" }, false],
  [{ TERM_PROGRAM: "Apple_Terminal" }, false],
  [{ TERM: "tmux-256color", TERM_PROGRAM: "iTerm.app" }, false],
  [{ TMUX: "/tmp/x", TERM: "xterm-kitty" }, false],
  [{ TERM: "xterm", FORCE_HYPERLINK: "1" }, true],
  [{ TERM: "xterm-kitty", FORCE_HYPERLINK: "0" }, false],
])("takes a terminal with %j as one that opens hyperlinks: %s", (environment, expected) => {
  expect(supportsHyperlinks(environment)).toBe(expected);
});
