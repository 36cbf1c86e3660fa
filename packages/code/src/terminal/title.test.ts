import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createXtermDevice } from "../../test/xterm-device.ts";
import { displayWidth } from "../text/display-width.ts";
import { createTerminalTitle, titleSequence } from "./title.ts";

const XTERM = { TERM: "xterm-256color" };

describe("titleSequence", () => {
  it("is one sequence of at most 60 columns, whatever the text is", () => {
    const text = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\u0007", "\u001b", "\u009c", "\n", "世界")));
    fc.assert(
      fc.property(text, (parts) => {
        // oxlint-disable-next-line no-control-regex -- reading an escape sequence is the purpose
        const shown = /^\u001b\]2;([^\u0000-\u001f\u007f-\u009f]*)\u0007$/.exec(titleSequence(parts.join("")))?.[1];
        expect(shown).toBeDefined();
        expect(displayWidth(shown ?? "")).toBeLessThanOrEqual(60);
      }),
    );
  });

  it("is understood by a terminal, and shows nothing", async () => {
    const device = createXtermDevice();
    const title = device.nextTitle();
    device.write(titleSequence("✳ keelson: mend the sum"));
    expect(await title).toBe("✳ keelson: mend the sum");
    expect(await device.shown()).toEqual([]);
  });
});

describe("createTerminalTitle", () => {
  it("sets titles in Windows Terminal, which names no TERM", () => {
    expect(createTerminalTitle({ WT_SESSION: "a-b-c" }).set("a")).toContain("a");
  });

  it("saves the title of the terminal before the first one of its own, and restores it at the end", () => {
    const title = createTerminalTitle(XTERM);
    expect([title.set("a"), title.set("a"), title.set("b"), title.restore(), title.restore()]).toEqual([
      "\u001b[22;2t\u001b]2;a\u0007",
      "",
      "\u001b]2;b\u0007",
      "\u001b[23;2t",
      "",
    ]);
    expect(title.set("b")).toBe("\u001b[22;2t\u001b]2;b\u0007");
  });

  it.each([{ TERM: "dumb" }, { TERM: "linux" }, { TERM: "vt100" }, {}])("writes nothing to a terminal of %j", (environment) => {
    const title = createTerminalTitle(environment);
    expect([title.set("a"), title.restore()]).toEqual(["", ""]);
  });
});
