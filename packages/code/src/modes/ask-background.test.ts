import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askBackground } from "./ask-background.ts";

/** @param answer chunks that the terminal sends once it is asked; the last one may be followed by silence */
async function ask(answer: readonly (string | Buffer)[], { isSilent = false } = {}) {
  const input = new PassThrough();
  const written: string[] = [];
  const found = await askBackground({
    input,
    write(text) {
      written.push(text);
      for (const chunk of answer) input.write(chunk);
    },
    after(_ms, done) {
      if (isSilent) setImmediate(done);
      return () => {};
    },
  });
  return { found, written: written.join(""), left: (input.read() as Buffer | null)?.toString() ?? "" };
}

describe("askBackground", () => {
  it("returns the colour that the terminal answers with, however its answer ends and is cut", async () => {
    const asked = await ask(["\u001b]11;rgb:1e1e/1e1e/1e1e\u001b\\", "\u001b[?62;4c"]);
    expect(asked).toEqual({ found: "rgb:1e1e/1e1e/1e1e", written: "\u001b]11;?\u001b\\\u001b[c", left: "" });
    expect((await ask(["\u001b]11;rgb:ff", "ff/ffff/ffff\u0007\u001b[?", "1;2c"])).found).toBe("rgb:ffff/ffff/ffff");
  });

  it("returns nothing for a terminal that does not know the query, without waiting, and for one that is silent", async () => {
    expect((await ask(["\u001b[?1;2c"])).found).toBe(undefined);
    expect((await ask([], { isSilent: true })).found).toBe(undefined);
  });

  it("leaves what a person typed meanwhile to the next reader, also characters whose bytes arrive apart", async () => {
    const bytes = Buffer.from("ä漢");
    const { found, left } = await ask([
      bytes.subarray(0, 1),
      bytes.subarray(1, 3),
      "\u001b]11;rgb:00/00/00\u0007",
      bytes.subarray(3),
      "\u001b[?1;2cb",
    ]);
    expect([found, left]).toEqual(["rgb:00/00/00", "ä漢b"]);
  });
});
