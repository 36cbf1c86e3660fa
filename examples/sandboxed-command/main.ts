// A command that was talked into stealing a key and into planting a hook: in a sandbox it gets neither. Where no sandbox can be
// made nothing runs, and the reason is told.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { EnvironmentError } from "@keelson/protocol";
import { readSandboxPolicy } from "keelson/environment";

const workspace = await mkdtemp(join(homedir(), ".keelson-example-"));
await mkdir(join(workspace, ".git/hooks"), { recursive: true });
await writeFile(join(workspace, "key.pem"), "a private key\n");

// #region run
import { createSandboxExecutor } from "keelson/environment";

const executor = createSandboxExecutor({ filesystem: { deniedPaths: ["key.pem"] } }, { workspace });
const result = executor.execute({
  command: "echo built > result.txt; cat key.pem; echo evil > .git/hooks/pre-commit; cat result.txt",
});
// #endregion

// #region session
import { createSandboxSession } from "keelson/environment";

const session = createSandboxSession();
const commands = createSandboxExecutor({}, { workspace, session });
// #endregion

try {
  await commands.execute({ command: "echo kept > /tmp/note" });
  assert.equal((await commands.execute({ command: "cat /tmp/note" })).stdout, session.unavailable === undefined ? "kept\n" : "");
  const { stdout, stderr } = await result;
  console.log(stdout, stderr);
  assert.equal(stdout, "built\n");
  assert.match(stderr, /key\.pem: Permission denied/);
  assert.match(stderr, /pre-commit: Read-only file system/);
  assert.deepEqual((await readdir(workspace)).toSorted(), [".git", "key.pem", "result.txt"]);
} catch (error) {
  if (!EnvironmentError.is(error, "provision-failed")) throw error;
  console.log(error.message);
} finally {
  await session[Symbol.asyncDispose]();
  await rm(workspace, { recursive: true });
}

// #region policy
const policy = {
  filesystem: { writableRoots: [".", "~/.npm"], deniedPaths: [".env"] },
  network: { enabled: true, allowedDomains: ["packages.example.com", "*.github.com"], deniedDomains: ["gist.github.com"] },
  environment: { pass: ["NODE_ENV"], set: { CI: "1" } },
  resources: { processes: 512, memory: "4GiB", fileSize: "1GiB", cpuSeconds: 600 },
  commands: { denied: ["ssh"] },
};
// #endregion
readSandboxPolicy(policy);
