import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { timeAfterChanges } from "./time-after-changes.ts";

it("is later than what changed just before, and no later than what changes next", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-time-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (let round = 0; round < 50; round++) {
    const [before, after] = [join(folder, `before-${round}`), join(folder, `after-${round}`)];
    writeFileSync(before, "");
    const time = await timeAfterChanges(join(folder, "marker"));
    writeFileSync(after, "");
    expect(statSync(before).ctimeMs).toBeLessThan(time);
    expect(statSync(after).ctimeMs).toBeGreaterThanOrEqual(time);
  }
});
