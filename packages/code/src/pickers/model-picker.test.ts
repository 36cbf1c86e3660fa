import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { createModelPicker, describeModel } from "./model-picker.ts";

const price = { input: "2", output: "10", asOf: "2026-09-23" };

function open(listed: Promise<readonly { readonly reference: string; readonly price: null }[]>) {
  const chosen: (string | undefined)[] = [];
  let frames = 0;
  const picker = createModelPicker({
    style: createStyle(false),
    current: "a/one",
    known: [
      { reference: "a/one", price, contextWindow: 200_000 },
      { reference: "a/two", price: null },
      { reference: "b/old", price: { ...price, input: "0", output: "0" } },
    ],
    listed,
    onDone: (model) => void chosen.push(model),
    changed: () => void (frames += 1),
  });
  return { picker, chosen, frames: () => frames, shown: () => picker.part.rows({ columns: 80, rows: 10 }).lines.join("\n") };
}

describe("createModelPicker", () => {
  it("shows the known models at once, the current one marked, with window and price", () => {
    const { shown } = open(new Promise(() => {}));
    expect(shown()).toMatch(
      /❯ ● a\/one {2}200k tokens · \$2 in, \$10 out\n {2}a\/two {4}window unknown · price unknown\n {2}b\/old .* free/,
    );
  });

  it("shows the models that vendors list once they have responded, and keeps those of the others", async () => {
    const { shown, picker, chosen, frames } = open(Promise.resolve([{ reference: "a/three", price: null }]));
    await Promise.resolve();
    await Promise.resolve();
    expect(frames()).toBe(1);
    expect(shown()).toMatch(/a\/one[^]*a\/three[^]*b\/old/);
    expect(shown()).not.toContain("a/two");
    for (const key of ["t", "h", "r", "\r"]) picker.handle(key);
    expect(chosen).toEqual(["a/three"]);
  });

  it("keeps the known models if no vendor responds", async () => {
    const { shown, frames } = open(Promise.reject(new Error("offline")));
    await Promise.resolve();
    expect([frames(), shown()]).toEqual([0, expect.stringContaining("a/two")]);
  });
});

describe("describeModel", () => {
  it("says what is not known", () => {
    expect(describeModel({ price: null })).toBe("window unknown · price unknown");
    expect(describeModel({ price, contextWindow: 1_000_000 })).toBe("1M tokens · $2 in, $10 out");
  });
});
