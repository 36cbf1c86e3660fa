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
  expect(keyPath("user_preference")).toBe("user_preference.json");
  expect(keyPath("history/turn-1")).toBe("history/turn-1.json");
  expect(keyPath("config.v2")).toBe("config.v2.json");
  expect(keyPath("userName")).toBe("user%4Eame.json");
  expect(keyPath("../../etc/passwd")).toBe("%2E%2E/%2E%2E/etc/passwd.json");
  expect(keyPath("/a//b/")).toBe("%/a/%/b/%.json");
  expect(keyPath("NUL.txt")).toBe("%4E%55%4C.txt.json");
  expect(keyPath("nul.txt")).toBe("%6Eul.txt.json");
});

it("has a path of its own for every key, that is no other key's folder, and nothing that leads out", () => {
  fc.assert(
    fc.property(key, key, (one, other) => {
      const [left, right] = [keyPath(one), keyPath(other)];
      expect(keyOfPath(left)).toBe(one);
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
});

it("knows no key for a file that a store did not write", () => {
  for (const path of ["a.txt", "A.json", "a.json.4f2a", "%zz.json", "a/../b.json", "%61.json"]) expect(keyOfPath(path)).toBeUndefined();
});
