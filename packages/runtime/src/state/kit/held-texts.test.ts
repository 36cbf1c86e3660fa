import { describe, expect, it } from "vitest";
import { createHeldTexts, textsByKey } from "./held-texts.ts";

const appended = (after: number) => ({ id: "a", after, records: [{ key: `k${after}`, type: "t", data: {} }] });
const words = (after: number, text = "word") => new Map([[`k${after}`, text]]);

describe("texts that are held for an index", () => {
  it("are added together, one addition after the other, with what came in between", async () => {
    const ends: (() => void)[] = [];
    const added: number[][] = [];
    const held = createHeldTexts<string>((batch) => {
      added.push(batch.map(({ after }) => after));
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return promise;
    });
    for (let after = 0; after < 66; after++) held.hold(appended(after), words(after));
    expect(added.map((batch) => batch.length)).toEqual([64]);
    const flushed = Promise.all([held.flush(), held.flush()]);
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(added[1]).toEqual([64, 65]);
    ends.shift()?.();
    await flushed;
    await held.flush();
    expect(added).toHaveLength(2);
  });

  it("are left to whoever searches where they can't be added, or so many wait that they would fill the memory", async () => {
    let isDown = true;
    const { promise: down, reject: fail } = Promise.withResolvers<void>();
    const added: number[] = [];
    const held = createHeldTexts<string>(async (batch) => {
      if (isDown) await down;
      added.push(...batch.map(({ after }) => after));
    });
    const large = "x".repeat(128 * 1024);
    for (let after = 0; after < 100; after++) held.hold(appended(after), words(after, large));
    isDown = false;
    fail(new Error("the server is gone"));
    await held.flush();
    expect(added).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
  });

  it("are those of their records, by key, where each has one", () => {
    expect(textsByKey(appended(0).records, ["text"])).toEqual(words(0, "text"));
    expect([textsByKey(appended(0).records, []), textsByKey(appended(0).records, undefined)]).toEqual([undefined, undefined]);
  });
});
