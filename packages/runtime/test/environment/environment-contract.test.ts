import { mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  createDiskVfs,
  createLocalEnvironment,
  createProcessEnvironment,
  createProcessExecutor,
  createSandboxEnvironment,
} from "keelson/environment";
import { mockOperator } from "keelson/testing";
import { describeEnvironment } from "keelson/testing/contracts";
import { afterAll } from "vitest";
import { describeWithBubblewrap } from "../sandbox/with-bubblewrap.ts";

const folders: string[] = [];
/** Not in /tmp, which is another one in a sandbox. */
function folder(): string {
  const made = mkdtempSync(join(process.env["KEELSON_PROBE_FOLDER"] ?? homedir(), ".keelson-contract-"));
  folders.push(made);
  return made;
}
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

describeEnvironment("the local environment", {
  create() {
    const root = folder();
    return createLocalEnvironment(mockOperator(["done"]), { files: createDiskVfs({ root }), exec: createProcessExecutor({ cwd: root }) });
  },
});
describeEnvironment("the process environment", {
  create: () => createProcessEnvironment({ cwd: folder() }),
  spec: { isolation: [{ type: "process" }], credentials: [] },
});
describeWithBubblewrap("the sandbox environment, where there is bubblewrap", () => {
  describeEnvironment("the sandbox environment", {
    create: () => createSandboxEnvironment({ workspace: folder() }),
    spec: { isolation: [{ type: "process" }], credentials: [], sandboxes: [{ enabled: true, deniedCommands: [] }] },
  });
});
