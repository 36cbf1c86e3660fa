import { access, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed, tier } from "../../../../test/tier.ts";
import { allProgramEntries } from "../../src/environment/command-line/programs/index.ts";
import { createHostileFolder, type HostileFolder } from "./sweep/hostile-folder.ts";
import { readSweptLines, runSweptLines, type SweptProgram } from "./sweep/sweep-programs.ts";

/** Entries with many names are swept under two of them, unless all are. */
const MAX_NAMES = tier === "soak" ? Infinity : 2;

let folder: HostileFolder;
beforeAll(async () => {
  folder = await createHostileFolder();
});
afterAll(() => rm(folder.root, { recursive: true, force: true }));

async function isInstalled({ name, entry }: SweptProgram): Promise<boolean> {
  if (entry.builtin === true) return true;
  const places = (process.env["PATH"] ?? "").split(delimiter).map((place) =>
    access(join(place, name)).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(places)).includes(true);
}

/** An order that the seed decides, so that samples differ from day to day. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item, index) => ({ item, key: Math.imul(index + 1, 2_654_435_761) ^ Math.imul(seed, 40_503) }))
    .toSorted((a, b) => (a.key >>> 0) - (b.key >>> 0))
    .map(({ item }) => item);
}

// It needs `timeout` and a shell that waits for the first of several commands.
describe.skipIf(process.platform !== "linux")("an option sweep over the tables of programs", () => {
  it(
    "finds no line that runs unasked, shows a canary that it does not read, or starts a program of the folder",
    { timeout: 900_000 },
    async () => {
      const present: SweptProgram[] = [];
      const missing: string[] = [];
      for (const entry of allProgramEntries()) {
        const programs = entry.names.split(" ").map((name) => ({ name, entry }));
        const found = await Promise.all(programs.map(isInstalled));
        missing.push(...programs.filter((_, index) => found[index] !== true).map(({ name }) => name));
        present.push(...shuffled(programs.filter((_, index) => found[index] === true)).slice(0, MAX_NAMES));
      }
      process.stdout.write(`option sweep: not installed: ${missing.join(" ")}\n`);
      const size = sampleSize("programs in the option sweep", { test: 12, ci: present.length, soak: present.length });
      const programs = shuffled(present).slice(0, size);
      const { unasked, read } = await readSweptLines(programs, folder);
      process.stdout.write(`option sweep: ${programs.length} programs, ${read} lines read, ${unasked.size} run\n`);
      expect(await runSweptLines(unasked, folder)).toEqual([]);
      expect(read).toBeGreaterThan(programs.length * 100);
    },
  );

  it("finds the lines of a wrong entry, in whatever form they show a canary or start a program", async () => {
    const lines = [
      "date -f ../outside/canary.txt",
      "sort --files0-from=../outside/canary.txt",
      "cat kept/inner.txt",
      "rev ../outside/canary.txt",
      "od -An -tx1 ../outside/canary.txt",
      "base64 ../outside/canary.txt",
      "sh ./marker.sh",
      "command ./marker.sh",
      "find . -maxdepth 0 -exec ./marker.sh ';'",
    ];
    const wrong = await runSweptLines(new Map([...lines, "cat input.txt"].map((line) => [line, {}])), folder);
    expect(wrong.map((sentence) => sentence.replace(/ (?:shows|starts) .*/, ""))).toEqual(lines);
  });
});
