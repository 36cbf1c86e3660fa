import { createMemoryBlobStore } from "keelson/state";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createLongOutput, readLongOutput } from "./long-output.ts";

it("gives back in pages, of whatever size, what was kept", async () => {
  const bounds = { headBytes: 8, tailBytes: 4 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme", maxLength: 20 })),
      fc.integer({ min: 4, max: 40 }),
      async (pieces, maxBytes) => {
        const blobs = createMemoryBlobStore();
        const output = createLongOutput({ ...bounds, blobs });
        for (const piece of pieces) output.push(piece);
        const whole = pieces.join("");
        const [, id] = /id "([^"]+)"/.exec((await output.keepRest()) ?? "") ?? [];
        expect(id === undefined).toBe(Buffer.byteLength(whole) <= 12);
        if (id === undefined) return;
        let read = "";
        for (let offset = 0, isLast = false; !isLast;) {
          const page = await readLongOutput(blobs, id as never, { offset, maxBytes });
          expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(maxBytes);
          expect(page.isLast || page.next > offset).toBe(true);
          read += page.text;
          ({ next: offset, isLast } = page);
        }
        expect(read).toBe(whole);
      },
    ),
  );
});

it("keeps no more than its bound, and says so", async () => {
  const blobs = createMemoryBlobStore();
  const output = createLongOutput({ headBytes: 8, tailBytes: 4, maxKeptBytes: 1000, blobs });
  for (let piece = 0; piece < 300; piece++) output.push("0123456789");
  const told = (await output.keepRest()) ?? "";
  expect(told).toMatch(/offset 8; only the first 1,000 bytes are kept$/);
  const [, id = ""] = /id "([^"]+)"/.exec(told) ?? [];
  expect((await blobs.get(id as never)).byteLength).toBe(1000);
});
