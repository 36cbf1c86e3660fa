import { describe, expect, it } from "vitest";
import { createFoldedOutputs } from "./folded-outputs.ts";

describe("createFoldedOutputs", () => {
  it("opens the last output, or that of a number", () => {
    const folds = createFoldedOutputs();
    expect(folds.open()).toBeUndefined();
    expect([folds.keep("bash a", ["1"]), folds.keep("bash b", ["2"])]).toEqual([1, 2]);
    expect(folds.open()).toEqual({ number: 2, title: "bash b", lines: ["2"] });
    expect(folds.open(1)?.lines).toEqual(["1"]);
    expect(folds.open(3)).toBeUndefined();
  });

  it("keeps the last 20", () => {
    const folds = createFoldedOutputs();
    for (let index = 0; index < 25; index += 1) folds.keep("x", []);
    expect([folds.open(5), folds.open(6)?.number, folds.open()?.number]).toEqual([undefined, 6, 25]);
  });

  it("keeps 1 MB of an output and says where the rest is", () => {
    const folds = createFoldedOutputs();
    folds.keep(
      "x",
      Array.from({ length: 3_000 }, () => "y".repeat(999)),
    );
    const lines = folds.open()?.lines ?? [];
    expect(lines.join("\n").length).toBeLessThan(1024 * 1024 + 200);
    expect(lines.at(-1)).toMatch(/^… 1951 more lines beyond 1 MB; the session keeps all of them/);
  });
});
