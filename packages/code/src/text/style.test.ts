import { expect, it } from "vitest";
import { wantsColors } from "./style.ts";

it.each(["dumb", "xterm-mono", "linux-m", "vt52", "vt100", "vt102", "vt220", "vt320", "vt100-am"])(
  "gives a terminal of the name %s no colours, unless they are forced",
  (TERM) => {
    expect(wantsColors({ isTTY: true }, { TERM })).toBe(false);
    expect(wantsColors({ isTTY: true }, { TERM, FORCE_COLOR: "1" })).toBe(true);
  },
);

it.each(["xterm", "xterm-256color", "linux", "screen", "tmux-256color", "vt525", "alacritty", undefined])(
  "gives a terminal of the name %s colours, unless NO_COLOR is set",
  (TERM) => {
    expect(wantsColors({ isTTY: true }, { TERM })).toBe(true);
    expect(wantsColors({ isTTY: true }, { TERM, NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false);
    expect(wantsColors({ isTTY: false }, { TERM })).toBe(false);
  },
);
