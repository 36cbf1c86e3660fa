import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestOf, shortHash } from "./digest.ts";

describe("digests", () => {
  it("address content by SHA-256", () => {
    expect(digestOf("abc")).toBe("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(digestOf(new TextEncoder().encode("abc"))).toBe(digestOf("abc"));
  });

  it("are one for values that are equal as JSON", () => {
    expect(digestOf({ a: 1, b: [true] })).toBe(digestOf({ b: [true], a: 1 }));
    expect(digestOf({ a: 1 })).not.toBe(digestOf({ a: 2 }));
  });
});

describe("short hashes", () => {
  it("are base32 of SHA-256, a longer one starting with the shorter", () => {
    // echo -n abc | openssl dgst -sha256 -binary | base32
    expect(shortHash("abc", 51)).toBe("xj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacwwq".slice(0, 51));
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 51 }), (text, length) => {
        const name = shortHash(text, length);
        expect(name).toMatch(/^[a-z2-7]+$/);
        expect(name).toHaveLength(length);
        expect(shortHash(text, 51).startsWith(name)).toBe(true);
      }),
    );
  });

  it("refuse a length that SHA-256 cannot fill", () => {
    expect(() => shortHash("a", 52)).toThrow(RangeError);
    expect(() => shortHash("a", 0)).toThrow(RangeError);
  });
});
