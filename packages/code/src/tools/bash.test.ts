import { type CallEffects, EnvironmentError, type ExecuteRequest, type ExecuteResponse } from "@keelson/protocol";
import { createProcessExecutor } from "keelson/environment";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FileHistory } from "../workspace/file-history.ts";
import { createBashTool } from "./bash.ts";
import { createToolWorkspace, QUIET_HISTORY, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());
const QUIET: ExecuteResponse = {
  exitCode: 0,
  signal: null,
  stdout: "",
  stderr: "",
  stdoutBytes: 0,
  stderrBytes: 0,
  timedOut: false,
  durationMs: 1,
};
const bash = (command: string, more: { readonly [name: string]: number | string } = {}) => workspace.say("bash", { command, ...more });

describe("bash", () => {
  it("gives output, then errors, then how it ended", async () => {
    expect(await bash("echo out; echo err >&2; echo more")).toBe("out\nmore\nSTDERR:\nerr\n[exit code 0, under 1 s]");
    expect(await bash("true")).toBe("[exit code 0, under 1 s]");
  });

  it("starts in the project, without variables of earlier commands", async () => {
    expect(await bash("cd / && pwd; X=1")).toMatch(/^\/\n/);
    expect(await bash("echo ${X:-none}")).toMatch(/^none\n/);
    expect(await bash("pwd")).toBe(`${workspace.root}\n[exit code 0, under 1 s]`);
  });

  it("marks what failed as an error, with its output", async () => {
    expect(await workspace.call("bash", { command: "echo broken; exit 3" })).toEqual({
      type: "content",
      isError: true,
      content: [{ type: "text", text: "broken\n[exit code 3, under 1 s]" }],
    });
    expect(await bash("kill -TERM $$")).toBe("[killed by SIGTERM, under 1 s]");
  });

  it("kills what takes too long, and keeps what it had printed", async () => {
    const output = await bash("echo begun; sleep 100 & sleep 100", { timeout_seconds: 1 });
    expect(output).toBe(
      "begun\n[timed out after 1 s and was killed with everything it started; set timeout_seconds (at most 3600) or take smaller steps. If it waits for input, there is none: pass that by options or a file. A server, a watcher or tail -f belongs into run_in_background]",
    );
  });

  it("refuses a longer wait than it can keep, and an empty command", async () => {
    expect(await bash("true", { timeout_seconds: 3601 })).toBe("ERROR timeout_seconds must be at most 3600");
    expect(await bash("  ")).toBe("ERROR The command is empty.");
  });

  it("shows the beginning and the end of long output, after cleaning it", async () => {
    const output = await bash(`for i in $(seq 20000); do printf '\\033[32mline %d\\033[0m\\n' $i; done`);
    expect(output).toMatch(/^line 1\nline 2\n/);
    expect(output).toMatch(/\n\[\.\.\. \d+ bytes omitted \.\.\.\]\n[^]*line 20000\n\[exit code 0/);
    expect(Buffer.byteLength(output)).toBeLessThan(45 * 1024);
    expect(output).not.toContain("\u001b");
  });

  it("keeps the middle of long output, and says how it is read", async () => {
    const shown = await bash(`for i in $(seq 20000); do printf '\\033[32mline %d €\\033[0m\\n' $i; done`);
    const [, id = "", offset = ""] = /\[stdout: the middle is read with bash_output, id "([^"]+)", offset (\d+)\]$/.exec(shown) ?? [];
    let read = shown.slice(0, shown.indexOf("\n[... "));
    for (let next: string | undefined = offset; next !== undefined;) {
      const page = await workspace.call("bash_output", { id, offset: Number(next) });
      const [, text = "", more] = /^([^]*)\n\[(?:the end|more from offset (\d+) on)\]$/.exec(page as string) ?? [];
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024);
      read += text;
      next = more;
    }
    const lines = (text: string): readonly string[] => text.replaceAll("\n", "").split(/(?<=€)/);
    expect(lines(read)).toEqual(Array.from({ length: 20000 }, (_, index) => `line ${index + 1} €`));
    expect(await workspace.say("bash_output", { id })).toBe("(nothing there)\n[the end]");
    expect(await workspace.say("bash_output", { id: "sha256:0" })).toBe(
      "ERROR There is no output sha256:0 here. Give an id as bash gave it.",
    );
    expect(await bash("seq 10")).not.toContain("bash_output");
  });

  it("tells of errors apart, and when the middle could not be kept", async () => {
    const failing = createBashTool({
      exec: { execute: async () => ({ ...QUIET, stdout: "x".repeat(100_000), stderr: "y".repeat(100_000) }) },
      blobs: { put: async () => Promise.reject(new Error("the disk is full")) },
    });
    expect(await failing.execute({ command: "x" }, workspace.toolCall())).toMatch(
      /\n\[stdout: the middle could not be kept: the disk is full\]\n\[stderr: the middle could not be kept: the disk is full\]$/,
    );
  });

  it("does not let a progress bar push out what matters", async () => {
    const output = await bash(`echo important; i=0; while [ $i -lt 3000 ]; do printf '%060d%%\\r' $i; i=$((i+1)); done; echo; echo end`);
    expect(output).toBe(`important\n${"0".repeat(56)}2999%\nend\n[exit code 0, under 1 s]`);
  });

  it("has no terminal, no input and no pager", async () => {
    expect(await bash("read answer || echo no input; echo $PAGER $TERM; test -t 1 || echo no terminal")).toBe(
      "no input\ncat dumb\nno terminal\n[exit code 0, under 1 s]",
    );
  });

  it.each([
    ["interrupted", "interrupted by the person"],
    ["aborted", "cancelled with the run"],
  ])("ends with the run when that is %s, and gives the output so far [TC-15]", async (reason, words) => {
    const controller = new AbortController();
    const running = workspace.call(
      "bash",
      { command: "echo ready; echo half >&2; sleep 100 & setsid sleep 100 & wait" },
      { signal: controller.signal, progress: () => controller.abort(reason) },
    );
    expect(await running).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringMatching(new RegExp(`^ready\\n(?:STDERR:\\nhalf\\n)?\\[${words}, and ended with everything it started\\]$`)) },
      ],
    });
  });

  it("is judged by its command", () => {
    expect(workspace.tool("bash").permissionText?.({ command: "npm test -- --run" })).toBe("npm test -- --run");
  });
});

describe("the progress of a command", () => {
  afterEach(() => vi.useRealTimers());

  it("is shown at once, and then no more often than a person can follow [TC-15]", async () => {
    vi.useFakeTimers();
    const { promise, resolve } = Promise.withResolvers<ExecuteResponse>();
    const started = Promise.withResolvers<ExecuteRequest>();
    using fake = createToolWorkspace({ exec: { execute: (given) => (started.resolve(given), promise) } });
    const told: string[] = [];
    const running = fake.say("bash", { command: "x" }, { progress: (message) => void told.push(message) });
    const request = await started.promise;
    const print = (text: string) => request.onOutput?.("stdout", text);
    print("one\n");
    expect(told).toEqual(["one\n"]);
    print("two\n");
    print("half");
    print("\u001b[1mthree\u001b[0m\n");
    expect(told).toHaveLength(1);
    vi.advanceTimersByTime(100);
    expect(told).toEqual(["one\n", "two\nhalfthree\n"]);
    print(`${"x".repeat(10_000)}\n`);
    resolve({ exitCode: 0, signal: null, stdout: "", stderr: "", stdoutBytes: 0, stderrBytes: 0, timedOut: false, durationMs: 12_400 });
    expect(await running).toMatch(/\[exit code 0, 12 s\]$/);
    vi.advanceTimersByTime(1000);
    expect(told).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not needed: an executor may give the output at the end only", async () => {
    using fake = createToolWorkspace({
      exec: {
        execute: async () => ({
          exitCode: 0,
          signal: null,
          stdout: "\u001b[1mall\u001b[0m\n",
          stderr: "",
          stdoutBytes: 0,
          stderrBytes: 0,
          timedOut: false,
          durationMs: 1,
        }),
      },
    });
    expect(await fake.say("bash", { command: "x" })).toBe("all\n[exit code 0, under 1 s]");
  });
});

describe("the time of a command", () => {
  afterEach(() => vi.useRealTimers());

  /** A command that prints when it is told to, and ends when its signal fires. */
  async function start(input: object) {
    vi.useFakeTimers();
    const started = Promise.withResolvers<ExecuteRequest>();
    using fake = createToolWorkspace({
      exec: {
        execute: (request) => {
          started.resolve(request);
          return new Promise((_resolve, reject) =>
            request.signal?.addEventListener("abort", () => reject(new EnvironmentError({ kind: "cancelled", message: "cancelled" }))),
          );
        },
      },
    });
    const result = fake.say("bash", { command: "tail -f log", ...input });
    return { result, request: await started.promise };
  }

  it.each([
    [{}, 60, 60],
    [{ timeout_seconds: 200 }, 200, 200],
    [{ timeout_seconds: 3600 }, 3600, 300],
    [{ timeout_seconds: 3600, silence_seconds: 10 }, 3600, 10],
  ])("with %j is %d s in all and %d s without output", async (input, total, silence) => {
    const { result, request } = await start(input);
    expect(request.timeoutMs).toBe(total * 1000);
    await vi.advanceTimersByTimeAsync((silence - 1) * 1000);
    request.onOutput?.("stdout", "one line\n");
    await vi.advanceTimersByTimeAsync((silence - 1) * 1000);
    expect(request.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await result).toMatch(
      new RegExp(
        `^one line\n\\[printed nothing for ${silence} s and was ended with everything it started\\..*run_in_background.*silence_seconds`,
      ),
    );
  });
});

it("runs commands that may write inside of the history, with its notes, and others beside it", async () => {
  const asked: string[] = [];
  const run = createBashTool({
    exec: createProcessExecutor({ cwd: workspace.root, killGraceMs: 100 }),
  });
  const history: FileHistory = {
    ...QUIET_HISTORY,
    async around(call, work) {
      asked.push(call.callId);
      return { result: await work(), notes: ["changed: a.txt"], changed: [] };
    },
  };
  const call = workspace.toolCall({ context: { ...workspace.context, history } });
  expect(await run.execute({ command: "touch a.txt" }, call)).toMatch(/\n\[changed: a\.txt\]$/);
  expect(await run.execute({ command: "ls" }, call)).not.toContain("changed:");
  expect(asked).toEqual(["c_1"]);
});

it("says of a line that is understood to change nothing that it may be repeated after a crash, and of no other", async () => {
  const effect = async (input: object): Promise<unknown> =>
    (await workspace.tool("bash").effectsOf?.(input, { cwd: workspace.root, context: workspace.context }))?.effect;
  const lines = ["ls -la", "git status && cat a | head -3", "cd src; grep -r x ."];
  expect(await Promise.all(lines.map((command) => effect({ command })))).toEqual(["read", "read", "read"]);
  const others = ["touch a", "ls > a", "npm test", "cat $(rm a)", "curl example.com", "unknown-program", "ls; if"];
  expect(await Promise.all(others.map((command) => effect({ command })))).toEqual(others.map(() => undefined));
  expect(await effect({ command: "tail -f a", run_in_background: true })).toBe(undefined);
  expect(await effect({ command: "ls", hosts: ["example.com"] })).toBe(undefined);
});

it("says of a command what the sandbox that it would run in refuses", async () => {
  const confined = { confined: { refused: ["It starts rm."] } };
  const tool = createBashTool({
    exec: { execute: () => Promise.reject(new Error("never")), confine: (effects) => ({ ...effects, ...confined }) },
  });
  expect(await tool.effectsOf?.({ command: "rm x" }, { context: workspace.context })).toMatchObject({
    commands: [{ text: "rm x" }],
    writes: ["x"],
    ...confined,
  });
  const bare = createBashTool({ exec: { execute: () => Promise.reject(new Error("never")) } });
  expect(await bare.effectsOf?.({ command: "rm x" }, { context: workspace.context })).not.toHaveProperty("confined");
});

it("runs in the environment that its run is held in, in the background too, and not with its own programs", async () => {
  const own = { execute: () => Promise.reject(new Error("it ran outside")) };
  const confined = { confined: { refused: [] } };
  const exec = createProcessExecutor({ cwd: workspace.root, env: { HELD: "inside" }, killGraceMs: 100 });
  const environment = { exec: { ...exec, confine: (effects: CallEffects) => ({ ...effects, ...confined }) } };
  const held = createToolWorkspace({ exec: own });
  expect(await held.say("bash", { command: "echo $HELD" }, { environment })).toContain("inside");
  expect(await held.tool("bash").effectsOf?.({ command: "make" }, { environment })).toMatchObject(confined);
  const started = await held.say("bash", { command: "echo $HELD", run_in_background: true }, { environment });
  const id = /job_\w+/.exec(started)?.[0] ?? "";
  expect(await held.say("bash_output", { id, wait_seconds: 10 }, { environment })).toContain("inside");
  expect(await held.say("bash", { command: "echo out" }, { environment: {} })).toContain("has no programs");
  held[Symbol.dispose]();
});
