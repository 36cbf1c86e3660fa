// The contract suites over what keeps its promises by the Node that it runs on.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createDiskVfs, createProcessExecutor } from "keelson/environment";
import {
  createMemoryEventLog,
  createSqliteBlobStore,
  createSqliteBudgetLedger,
  createSqliteEventLog,
  createSqliteStore,
} from "keelson/state";
import {
  describeBlobStore,
  describeBudgetLedger,
  describeEventLog,
  describeExecutor,
  describeLogIndex,
  describeStateStore,
  describeVfs,
} from "keelson/testing/contracts";
import { afterAll } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "keelson-contracts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newPath = (): string => join(folder, `${(count += 1)}`);

describeEventLog("createMemoryEventLog", (now) => createMemoryEventLog({ now }));
describeEventLog("createSqliteEventLog", (now) => createSqliteEventLog({ path: newPath(), now }));
describeLogIndex("createSqliteEventLog", () => createSqliteEventLog(newPath()));
describeBlobStore("createSqliteBlobStore", () => createSqliteBlobStore(newPath()));
describeBudgetLedger("createSqliteBudgetLedger", (options) =>
  createSqliteBudgetLedger({ path: newPath(), durability: "process", ...options }),
);
describeStateStore("createSqliteStore", () => {
  let time = 1_000_000;
  return { store: createSqliteStore({ path: newPath(), now: () => time }), advance: (ms) => void (time += ms) };
});
describeVfs("createDiskVfs", {
  capabilities: ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv"],
  create(content) {
    const root = newPath();
    mkdirSync(root);
    for (const [path, text] of Object.entries(content)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return createDiskVfs({ root });
  },
});
describeExecutor("createProcessExecutor", {
  create: () => createProcessExecutor({ cwd: folder, killGraceMs: 200 }),
  terminals: true,
});
