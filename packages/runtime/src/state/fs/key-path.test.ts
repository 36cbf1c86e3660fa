import fc from "fast-check";
import { expect, it } from "vitest";
import { keyOfPath, keyPath } from "./key-path.ts";

const key = fc.oneof(
  fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" }),
  fc
    .array(fc.constantFrom("a", "A", "é", "e\u0301", ".", "..", ".json", "json", "/", "%", "%+", "con", "x".repeat(199), " "), {
      minLength: 1,
      maxLength: 12,
    })
    .map((parts) => parts.join("")),
);

it("lays keys where a person would look for them [ST-09]", () => {
  expect(keyPath("user_preference", ".json")).toBe("user_preference.json");
  expect(keyPath("history/turn-1", ".json")).toBe("history/turn-1.json");
  expect(keyPath("config.v2", ".json")).toBe("config.v2.json");
  expect(keyPath("userName", ".json")).toBe("user%4Eame.json");
  expect(keyPath("../../etc/passwd", ".json")).toBe("%2E%2E/%2E%2E/etc/passwd.json");
  expect(keyPath("/a//b/", ".json")).toBe("%/a/%/b/%.json");
  expect(keyPath("NUL.txt", ".json")).toBe("%4E%55%4C.txt.json");
  expect(keyPath("nul.txt", ".json")).toBe("%6Eul.txt.json");
});

it("gives keys that end like files of the store a folder name of their own", () => {
  expect(keyPath("a.md/b", ".md")).toBe("a%2Emd/b.md");
  expect(keyPath("a.json/b", ".md")).toBe("a.json/b.md");
  expect(keyPath("a.json/b", ".json")).toBe("a%2Ejson/b.json");
});

it.each([".json", ".md"] as const)(
  "has a path of its own for every key with %s, that is no other key's folder, and nothing that leads out",
  (extension) => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        const [left, right] = [keyPath(one, extension), keyPath(other, extension)];
        expect(keyOfPath(left, extension)).toBe(one);
        for (const name of left.split("/")) {
          expect(name).toMatch(/^[a-z0-9._%+A-F-]+$/);
          expect(name.length).toBeLessThanOrEqual(210);
          expect([".", "..", ""]).not.toContain(name);
        }
        if (one === other) return;
        expect(left.toLowerCase()).not.toBe(right.toLowerCase());
        expect(left.toLowerCase().startsWith(`${right.toLowerCase()}/`)).toBe(false);
      }),
      { numRuns: 500 },
    );
  },
);

it("knows no key for a file that a store did not write", () => {
  for (const path of ["a.txt", "A.json", "a.json.4f2a", "%zz.json", "a/../b.json", "%61.json"])
    expect(keyOfPath(path, ".json")).toBeUndefined();
});
