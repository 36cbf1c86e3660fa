// Commands: one, several as a pipeline, some in the background, one on a terminal, and output that is too long to keep. All of it is checked.
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentError } from "@keelson/protocol";

const folder = await realpath(await mkdtemp(join(tmpdir(), "keelson-example-")));
await writeFile(join(folder, "words.txt"), "rope\nsail\nrope\n");

// #region smallest
import { createProcessExecutor } from "keelson/environment";

const executor = createProcessExecutor({ cwd: folder });
const { stdout, exitCode } = await executor.execute({ command: "wc -l < words.txt; exit 3", timeoutMs: 10_000 });
console.log(stdout.trim(), exitCode); // 3 3
// #endregion

assert.deepEqual([stdout.trim(), exitCode], ["3", 3]);

// #region failures
const missing = await executor
  .execute({ program: "no-such-program" })
  .catch((error: unknown) => EnvironmentError.is(error, "provision-failed") && error.failure);
console.log(missing); // { kind: "provision-failed", message: "Cannot run no-such-program: there is no such program. …" }
// #endregion

assert.match(missing === false ? "" : (missing as { readonly message: string }).message, /there is no such program/);

// #region pipeline
const counted = await executor.pipeline([
  { command: "sort", args: ["words.txt"], stderrToStdout: false },
  { command: "uniq", args: ["-c"], stderrToStdout: false, timeoutMs: 5_000 },
]);
console.log(counted.stdout, counted.failedStage); // 2 rope, 1 sail, and undefined: none failed
// #endregion

assert.match(counted.stdout, /2 rope\n\s+1 sail\n/);
assert.equal(counted.failedStage, undefined);

// #region jobs
const { id } = await executor.jobs.start({ command: "echo ready; sleep 300" });
const first = await executor.jobs.poll(id, { waitMs: 10_000 });
console.log(first.text, first.job.status); // ready, running
const rest = await executor.jobs.poll(id, { after: first.next }); // what is new: nothing
const { status } = await executor.jobs.kill(id);
// #endregion

assert.deepEqual([first.text, rest.text, status], ["ready\n", "", "killed"]);

// #region processes
const server = await executor.jobs.start({ command: "sleep 300 & wait" });
for (const { pid, parentPid, command, memoryBytes } of await executor.processes()) console.log(pid, parentPid, command, memoryBytes);
await executor.jobs.kill(server.id);
// #endregion

assert.deepEqual(await executor.processes(), []);

// #region tool
import { createAgent, createRunner, defineTool } from "keelson";
import { startJob } from "keelson/environment";
import { scriptedModel } from "keelson/testing";

const serve = defineTool({
  name: "serve",
  description: "Starts a server of this project in the background.",
  effect: "write",
  input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  async execute({ command }: { readonly command: string }, call) {
    const job = await startJob(call, executor, { command });
    return `Started as ${job.id}.`;
  },
});
const model = scriptedModel([{ toolCalls: [{ name: "serve", input: { command: "sleep 300" } }] }, "It is up."]);
const agent = createAgent({ name: "keeper", model, tools: [serve], permissions: { rules: [{ pattern: "serve", behavior: "allow" }] } });
const outcome = await createRunner({ agent }).run("Serve the project.").outcome;
console.log(outcome.reason, await executor.processes()); // complete, []: what the run had started ended with it
// #endregion

assert.equal(outcome.reason, "complete");
assert.deepEqual(await executor.processes(), []);

// #region blobs
import { createMemoryBlobStore } from "keelson/state";

const blobs = createMemoryBlobStore();
const long = await executor.execute({ command: "seq 100000", maxOutputBytes: 4096, blobs });
console.log(long.stdoutBytes, long.stdout.length); // 588895 and some 4100: 1, 2, … [... 584799 bytes omitted ...] … 100000
const middle = long.stdoutBlob && (await blobs.get(long.stdoutBlob, { start: 3072, end: 3082 }));
// #endregion

assert.equal(long.stdoutBytes, 588_895);
assert.match(long.stdout, /bytes omitted/);
assert.equal(middle?.byteLength, 10);

// #region pty
const onTerminal = await executor
  .execute({ command: "tput cols; test -t 1 && echo a terminal", pty: { columns: 120, rows: 40 }, env: { TERM: "xterm" } })
  .catch((error: unknown) => EnvironmentError.is(error, "unsupported") && error.message); // says what to install
if (typeof onTerminal === "object") console.log(onTerminal.stdout); // 120 and "a terminal", with \r\n as terminals have it
// #endregion

if (typeof onTerminal === "object") assert.match(onTerminal.stdout, /^120\r\na terminal/);
else assert.match(String(onTerminal), /@lydell\/node-pty/);

// #region sandbox
import { createDiskVfs, createSandboxVfs } from "keelson/environment";

const sandbox = createSandboxVfs({ files: createDiskVfs({ root: folder }), executor });
await sandbox.write("src/list.txt", "b\na\n");
await sandbox.cd("src");
console.log((await sandbox.execute({ program: "sort", args: ["list.txt"] })).stdout); // a, b: commands start where the files are
// #endregion

assert.equal((await sandbox.execute({ program: "sort", args: ["list.txt"] })).stdout, "a\nb\n");
await rm(folder, { recursive: true });
console.log("commands: ok");
