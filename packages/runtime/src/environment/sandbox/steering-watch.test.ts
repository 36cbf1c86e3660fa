import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { OWN_VIEW } from "../files/disk-view.ts";
import { openSteeringRoot } from "./steering-watch.ts";
import type { SteeringReport } from "./steering-report.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-watch-")));
// Read at the first record.
process.env["KEELSON_HOME"] = join(base, "home");
const records = join(base, "home/sandbox");
afterAll(() => rmSync(base, { recursive: true, force: true }));

let root: string;
beforeEach(() => void (root = mkdtempSync(join(base, "workspace-"))));

const open = async () => {
  const report: SteeringReport = { movedAside: [], notices: [], kept: [] };
  const opened = await openSteeringRoot(root, OWN_VIEW, { isWorkspace: true, byName: true, report });
  return { report, opened };
};
/** A record as another process leaves it, last seen so long ago. */
const leaveRecord = (ageSeconds: number, known: readonly string[] = []): void => {
  mkdirSync(records, { recursive: true });
  const { dev, ino } = statSync(root, { bigint: true });
  const header = { version: 1, owner: "7@elsewhere:1:boot:2", root, inode: `${dev}:${ino}`, byName: true, watched: [] };
  const file = join(records, "other.watch");
  writeFileSync(file, [header, ...known].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const time = Date.now() / 1000 - ageSeconds;
  utimesSync(file, time, time);
};

it("moves aside what a command of another process made since it began, and keeps what it found there", async () => {
  writeFileSync(join(root, "AGENTS.md"), "old");
  writeFileSync(join(root, "CLAUDE.md"), "new");
  leaveRecord(0, ["AGENTS.md"]);
  const { report, opened } = await open();
  expect(report.movedAside).toEqual([{ path: join(root, "CLAUDE.md"), to: join(root, "CLAUDE.md.withheld-1") }]);
  expect(opened.kept).toEqual([join(root, "AGENTS.md")]);
  rmSync(join(records, "other.watch"));
});

it("leaves what was made after a process was last seen, and forgets its record", async () => {
  for (const age of [3600, 40 * 24 * 3600]) {
    writeFileSync(join(root, "AGENTS.md"), "of a person");
    leaveRecord(age);
    expect((await open()).report.movedAside).toEqual([]);
    expect([existsSync(join(root, "AGENTS.md")), readdirSync(records)]).toEqual([true, []]);
  }
});

it("keeps a record for as long as it watches, and none that is damaged stops it", async () => {
  writeFileSync(join(records, "damaged.watch"), "{");
  const { report, opened } = await open();
  const end = opened.watch([]);
  expect(readdirSync(records)).toHaveLength(2);
  writeFileSync(join(root, ".envrc"), "x");
  await end();
  expect(report.movedAside.map(({ path }) => path)).toEqual([join(root, ".envrc")]);
  expect(readdirSync(records)).toEqual(["damaged.watch"]);
});

it("moves no entry over another, and shortens names that would be too long", async () => {
  const long = `${"x".repeat(240)}.code-workspace`;
  for (const name of ["AGENTS.md.withheld-1", "AGENTS.md.withheld-2"]) writeFileSync(join(root, name), name);
  const { report, opened } = await open();
  const end = opened.watch([]);
  for (const name of ["AGENTS.md", long]) writeFileSync(join(root, name), "x");
  await end();
  expect(report.movedAside.map(({ problem }) => problem)).toEqual([undefined, undefined]);
  expect(readdirSync(root).toSorted().slice(0, 3)).toEqual([1, 2, 3].map((number) => `AGENTS.md.withheld-${number}`));
  expect(existsSync(join(root, long))).toBe(false);
});
