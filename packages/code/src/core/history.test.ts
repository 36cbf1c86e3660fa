import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { appendHistory, readHistory, trimHistory } from "./history.ts";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "keelson-typed-"))));
afterEach(() => rmSync(folder, { recursive: true }));

it("keeps each line as it is typed, beside those of other conversations, and returns the newest first", async () => {
  const path = join(folder, "history");
  expect(await readHistory(path)).toEqual([]);
  appendHistory(path, "one");
  appendHistory(path, "two\nlines");
  await trimHistory(path);
  expect(await readHistory(path)).toEqual(["two\nlines", "one"]);
});

it("returns and leaves the last 500 lines, and leaves out what is no line of it", async () => {
  const path = join(folder, "history");
  writeFileSync(path, "no JSON\n");
  for (let line = 1; line <= 502; line += 1) appendHistory(path, `line ${line}`);
  const before = await readHistory(path);
  await trimHistory(path);
  expect([before.length, before[0], before.at(-1)]).toEqual([500, "line 502", "line 3"]);
  expect(await readHistory(path)).toEqual(before);
});
