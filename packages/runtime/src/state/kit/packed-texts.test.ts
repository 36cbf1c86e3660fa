import fc from "fast-check";
import { expect, it } from "vitest";
import { packTexts, unpackTexts, unpackTextsNow } from "./packed-texts.ts";

it("gives back all texts as they were, whatever they hold", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), async (texts) => {
      const packed = await packTexts(texts);
      expect(await unpackTexts(packed)).toEqual(texts);
      expect(unpackTextsNow(packed)).toEqual(texts);
    }),
  );
});

it("gives nothing where any byte is another, and where its digest is that of other bytes", async () => {
  const packed = await packTexts(["one", "two"]);
  for (const place of packed.bytes.keys()) {
    const bytes = Uint8Array.from(packed.bytes, (byte, index) => (index === place ? byte ^ 1 : byte));
    expect(unpackTextsNow({ ...packed, bytes })).toBeUndefined();
    expect(await unpackTexts({ ...packed, bytes })).toBeUndefined();
  }
  const other = await packTexts(["one"]);
  expect(await unpackTexts({ bytes: packed.bytes, sha256: other.sha256 })).toBeUndefined();
});

it("takes much less than the texts where they are alike", async () => {
  const texts = Array.from({ length: 500 }, (_, n) => JSON.stringify({ role: "assistant", content: `the answer to question ${n}` }));
  expect((await packTexts(texts)).bytes.length).toBeLessThan(texts.join("").length / 5);
});
