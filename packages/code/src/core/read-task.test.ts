import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { RunCommand } from "../options/command-line.ts";
import { readTask } from "./read-task.ts";

/** A pipe in which nothing comes, for as long as anybody waits. */
function silentPipe(): {
  readonly stdin: PassThrough;
  readonly stderr: PassThrough;
  readonly after: (ms: number, act: () => void) => () => void;
} {
  return { stdin: new PassThrough(), stderr: new PassThrough({ encoding: "utf8" }), after: (_ms, act) => (queueMicrotask(act), () => {}) };
}

const NEW: RunCommand["session"] = { type: "new" };

it("says what it waits for where there is no task but on standard input, and takes it when it comes", async () => {
  const { stdin, stderr, after } = silentPipe();
  const reading = readTask({ session: NEW }, { stdin, stderr }, after);
  await new Promise((resolve) => stderr.once("readable", resolve));
  expect(stderr.read()).toMatch(/^keelson: waiting for the task on standard input; give it as an argument[^\n]*\n$/);
  stdin.end("fix the build\n");
  expect(await reading).toBe("fix the build");
});

it.each([
  ["a task", { task: "fix it", session: NEW }, "fix it"],
  ["a session to go on with", { session: { type: "newest" } as RunCommand["session"] }, undefined],
])("goes on without a pipe in which nothing comes where there is %s, and says so", async (_what, command, task) => {
  const { stdin, stderr, after } = silentPipe();
  expect(await readTask(command, { stdin, stderr }, after)).toBe(task);
  expect(stderr.read()).toMatch(/^keelson: nothing came on standard input; going on without it/);
});
