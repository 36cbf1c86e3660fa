import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Journal, lineOf, parseJournal } from "./journal.ts";
import type { JournalRecord } from "./journal-record.ts";

const RECORDS: readonly JournalRecord[] = [
  { type: "session", version: 1, session: "größe", root: "/a" },
  { type: "end", step: "1", at: 1, changes: [{ path: "/a/\u00ff", before: undefined, after: { type: "link", target: "\n" } }] },
  { type: "dropped", steps: ["1"] },
];

describe("Journal", () => {
  let file: string;
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keelson-journal-"));
    file = join(folder, "j");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("reads the records before any byte at which a process was killed, and goes on behind them [TC-04]", () => {
    const whole = RECORDS.map(lineOf).join("");
    const bytes = Buffer.from(whole, "utf8");
    for (let cut = 0; cut <= bytes.length; cut++) {
      writeFileSync(file, bytes.subarray(0, cut));
      const kept = parseJournal(bytes.subarray(0, cut)).records.length;
      new Journal(file, { isSynced: false }).append([{ type: "dropped", steps: ["2"] }]);
      const read = new Journal(file).read();
      expect([cut, read.length, read.at(-1)]).toEqual([cut, kept + 1, { type: "dropped", steps: ["2"] }]);
    }
  });

  it("ends at a line whose checksum is wrong", () => {
    const [first = "", second = "", third = ""] = RECORDS.map(lineOf);
    const damaged = second.replace("link", "lynx");
    expect(parseJournal(Buffer.from(first + damaged + third, "utf8")).records).toHaveLength(1);
  });

  it("sees what another process has appended", () => {
    const [one, other] = [new Journal(file, { isSynced: false }), new Journal(file, { isSynced: false })];
    one.append(RECORDS.slice(0, 1));
    other.append(RECORDS.slice(2));
    expect(one.read()).toHaveLength(2);
    appendFileSync(file, "torn");
    expect(one.read()).toHaveLength(2);
    one.append(RECORDS.slice(2));
    expect(other.read()).toHaveLength(3);
    expect(readFileSync(file, "utf8")).not.toContain("torn");
  });
});
