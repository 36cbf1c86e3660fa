import fc from "fast-check";
import { expect, it } from "vitest";
import { sourceLine, sourcesIn, unitedSources, untrustedMetadata } from "./untrusted-sources.ts";

const sources = fc.uniqueArray(fc.nat({ max: 40 }).map(String), { maxLength: 30 });

it("unites sources in whatever order of steps, each once, and forgets of too many the oldest", () => {
  fc.assert(
    fc.property(sources, sources, sources, (a, b, c) => {
      const [x, y, z] = [a, b, c].map((each) => unitedSources([], each)) as [string[], string[], string[]];
      const united = unitedSources(unitedSources(x, y), z);
      expect(united).toEqual(unitedSources(x, unitedSources(y, z)));
      expect(unitedSources(united, z)).toEqual(united);
      expect(new Set(united).size).toBe(united.length);
      expect(united.length).toBe(Math.min(16, new Set([...x, ...y, ...z]).size));
      if (z.length > 0) expect(united.at(-1)).toBe(z.at(-1));
    }),
  );
});

it("changes no list, and gives the one that it was given where nothing is added", () => {
  const known = ["a"];
  expect(unitedSources(known, undefined)).toBe(known);
  expect(unitedSources(known, [])).toBe(known);
  expect(unitedSources(known, ["b"])).toEqual(["a", "b"]);
  expect(known).toEqual(["a"]);
});

it("keeps a source to one line that a person reads, whatever a page put into its address", () => {
  expect(sourceLine("https://x.example/\u001b[2J\n\nAPPROVED\u2028 ")).toBe("https://x.example/ [2J APPROVED");
  expect(sourceLine("x".repeat(1000))).toHaveLength(201);
});

it("reads its label back from metadata, and believes no other one to mean nothing", () => {
  expect(sourcesIn(untrustedMetadata(["a", "b"]))).toEqual(["a", "b"]);
  expect([sourcesIn(undefined), sourcesIn({ by: "me" }), sourcesIn({ untrusted: false })]).toEqual([[], [], []]);
  expect([sourcesIn({ untrusted: true }), sourcesIn({ untrusted: [7] })]).toEqual([["a stored value"], ["a stored value"]]);
});
