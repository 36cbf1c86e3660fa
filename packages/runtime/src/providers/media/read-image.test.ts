import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageProblem } from "./image-problem.ts";
import { readImage } from "./read-image.ts";

const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(bytes);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const gif = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(13);
  bytes.write("GIF89a", "latin1");
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};
const webp = (kind: "VP8 " | "VP8L" | "VP8X", width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(30);
  bytes.write("RIFF", 0, "latin1");
  bytes.write(`WEBP${kind}`, 8, "latin1");
  if (kind === "VP8 ") {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  } else if (kind === "VP8L") bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  }
  return bytes;
};
/** With a segment of this length before the frame. */
const jpeg = (width: number, height: number, before = 20): Buffer => {
  const segment = Buffer.alloc(2 + before);
  segment.writeUInt16BE(0xffe0, 0);
  segment.writeUInt16BE(before, 2);
  const frame = Buffer.alloc(20);
  frame.writeUInt16BE(0xffc2, 0);
  frame.writeUInt16BE(17, 2);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), segment, frame]);
};
const side = fc.integer({ min: 1, max: 16_383 });

describe("an image", () => {
  it("tells its format and its size in its first bytes", () => {
    fc.assert(
      fc.property(side, side, fc.integer({ min: 2, max: 60_000 }), (width, height, before) => {
        const all = {
          png: png(width, height),
          gif: gif(width, height),
          jpeg: jpeg(width, height, before),
          webp: webp("VP8 ", width, height),
        };
        for (const [name, bytes] of Object.entries({ ...all }))
          expect(readImage(bytes.toString("base64"))).toEqual({ mediaType: `image/${name}`, width, height });
        for (const kind of ["VP8L", "VP8X"] as const)
          expect(readImage(webp(kind, width, height).toString("base64"))).toEqual({ mediaType: "image/webp", width, height });
      }),
    );
  });

  it("is none where it breaks off, is empty, or is something else; whatever the bytes, nothing is thrown", () => {
    for (const bytes of [png(3, 4), gif(3, 4), jpeg(3, 4), webp("VP8X", 3, 4)])
      for (let length = 0; length < Math.min(bytes.length, 11); length++)
        expect(readImage(bytes.subarray(0, length).toString("base64"))).toBeUndefined();
    expect(readImage(png(0, 4).toString("base64"))).toBeUndefined();
    expect(readImage("not base64 at all: ä")).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readImage(Buffer.from(bytes).toString("base64"))));
    const start = fc.constantFrom(png(3, 4), gif(3, 4), jpeg(3, 4), webp("VP8X", 3, 4));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), fc.nat(30), (bytes, noise, at) => {
        const broken = Buffer.from(bytes);
        broken.set(noise.subarray(0, Math.max(0, broken.length - at)), Math.min(at, broken.length));
        readImage(broken.toString("base64"));
      }),
    );
  });

  const shown = (bytes: Buffer, mediaType = "image/png", wire = "anthropic-messages"): string | undefined =>
    imageProblem({ type: "image", mediaType, data: bytes.toString("base64") }, wire);

  it("can be shown where the vendor takes its format and size, and else says why not and what to do", () => {
    expect(shown(png(8000, 100))).toBeUndefined();
    expect(shown(png(8001, 100))).toMatch(/8001 × 100 pixels, and Anthropic takes at most 8000 a side: scale it down/);
    expect(shown(png(8001, 100), "image/png", "openai-responses")).toBeUndefined();
    expect(shown(Buffer.concat([png(10, 10), Buffer.alloc(6 * 1024 * 1024)]))).toMatch(/Anthropic takes at most 5242880: scale it down/);
    // The type of its bytes wins over the one that was declared.
    expect(shown(jpeg(10, 10))).toBeUndefined();
    expect(shown(gif(10, 10), "image/png", "gemini")).toMatch(/Gemini takes no image\/gif/);
    expect(shown(Buffer.from("<html>"))).toMatch(/bytes are no PNG image/);
    expect(shown(Buffer.from("x"), "image/tiff")).toMatch(/Anthropic takes no image\/tiff, only image\/png/);
    expect(shown(gif(10, 10), "image/gif", "gemini")).toMatch(/Gemini takes no image\/gif/);
    // Of a wire that nobody knows, what is no image at all.
    expect(shown(Buffer.from("x"), "image/png", "scripted")).toMatch(/no PNG image/);
    expect(shown(Buffer.from("x"), "image/tiff", "scripted")).toBeUndefined();
  });

  it("is taken out of a data: address, and not looked for behind any other", () => {
    const url = `data:image/png;base64,${Buffer.from("x").toString("base64")}`;
    expect(imageProblem({ type: "image", mediaType: "image/png", url }, "gemini")).toMatch(/no PNG image/);
    expect(imageProblem({ type: "image", mediaType: "image/png", url: "https://example.com/x.png" }, "gemini")).toBeUndefined();
  });
});
