import { describe, expect, it } from "vitest";
import { pdfText } from "./pdf-text.ts";
import { makePdf } from "../../test/pdf-sample.ts";

const { signal } = new AbortController();

describe("a PDF as text", () => {
  it("has its pages one by one, and the pages that were asked for", async () => {
    const pdf = makePdf([["Hello", "World"], ["Second page"], ["Third"]]);
    expect(await pdfText(pdf, { signal })).toMatchObject({
      kind: "text",
      count: 3,
      last: 3,
      lines: ["[Page 1 of 3]", "Hello", "World", "[Page 2 of 3]", "Second page", "[Page 3 of 3]", "Third"],
      empty: [],
    });
    expect(await pdfText(pdf, { first: 2, last: 2, signal })).toMatchObject({ lines: ["[Page 2 of 3]", "Second page"], last: 2 });
    expect(await pdfText(pdf, { first: 9, signal })).toMatchObject({ lines: [], count: 3 });
  });

  it("says that it is encrypted, damaged, or without text", async () => {
    expect(await pdfText(makePdf([["secret"]], { isEncrypted: true }), { signal })).toMatchObject({ kind: "locked" });
    expect(await pdfText(Buffer.from("%PDF-1.7 nonsense"), { signal })).toMatchObject({ kind: "damaged" });
    expect(await pdfText(makePdf([[], ["text"]]), { signal })).toMatchObject({ kind: "text", empty: [1] });
  });

  it("is left when it takes too much memory", async () => {
    expect(await pdfText(makePdf([["a"]]), { maxGrowthBytes: Number.NEGATIVE_INFINITY, signal })).toEqual({
      kind: "damaged",
      message: "unpacking it takes too much memory",
    });
  });

  it("is left when its signal fires", async () => {
    const stopping = new AbortController();
    const reading = pdfText(makePdf([["a"]]), { signal: stopping.signal });
    stopping.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });
});
