import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InferRequest } from "@keelson/protocol";
import { createAgent, createRunner, defineTool, type AgentOptions } from "keelson";
import { waitForSignalTool } from "keelson/agent";
import { createProcessExecutor, startJob } from "keelson/environment";
import { createSqliteEventLog } from "keelson/state";
import { type ScriptedResponse, scriptedModel, type ScriptedTurn } from "keelson/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ofType, sharedServices, watch } from "./support.ts";

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), "keelson-jobs-"))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function textsOf(request: InferRequest | undefined): readonly string[] {
  return (request?.messages ?? []).flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise<void>((resolve) => setImmediate(resolve));
}

function worker(turns: readonly ScriptedTurn[], limits: AgentOptions["limits"] = {}) {
  const executor = createProcessExecutor({ cwd, killGraceMs: 200 });
  const start = defineTool({
    name: "start",
    description: "Starts a command.",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    async execute({ command }: { readonly command: string }, call) {
      const { id } = await startJob(call, executor, { command });
      return id;
    },
  });
  const ask = defineTool({ name: "ask", description: "Asks.", input: { type: "object" }, execute: () => "asked" });
  const model = scriptedModel(turns);
  const agent = createAgent({
    name: "worker",
    model,
    limits,
    tools: [start, ask],
    permissions: {
      rules: [
        { pattern: "start", behavior: "allow" },
        { pattern: "ask", behavior: "ask" },
      ],
    },
  });
  return { model, agent, executor };
}

const starting = (command: string): ScriptedResponse => ({ toolCalls: [{ name: "start", input: { command } }] });
const pidFile = (): string => join(cwd, "pid");
const pid = (): number => Number(readFileSync(pidFile(), "utf8"));
const hasStarted = (): boolean => existsSync(pidFile()) && readFileSync(pidFile(), "utf8").endsWith("\n");
const LASTING = "echo $$ > pid; sleep 300 & wait";

describe("a job of a run", { timeout: 30_000 }, () => {
  it("outlives its turn, and its end is told to the model once, between turns, and recorded", async () => {
    const { model, agent, executor } = worker([
      starting("until [ -e go ]; do sleep 0.02; done; echo built; exit 2"),
      {
        toolCalls: [{ name: "start", input: { command: "true" } }],
        wait: async () => {
          writeFileSync(join(cwd, "go"), "");
          const [first] = (await executor.jobs.list()) ?? [];
          await executor.jobs.ended(first?.id ?? "");
        },
      },
      { text: "done", wait: async () => void (await Promise.all((await executor.jobs.list()).map(({ id }) => executor.jobs.ended(id)))) },
      "all done",
      "all done",
    ]);
    const { events, outcome } = await watch(createRunner({ ...sharedServices(), agent }).run("go"));
    expect(outcome.reason).toBe("complete");
    const texts = textsOf(model.requests.at(-1));
    const told = texts.filter((text) => text.includes("echo built"));
    expect(told).toEqual([
      expect.stringMatching(/^The background job "until .*" \(job_\w+\) has ended: exit code 2\. Its last output:\nbuilt$/s),
    ]);
    expect(
      ofType(events, "task")
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(["completed", "failed", "started", "started"]);
  });

  it("does not hold the run, and ends with it", async () => {
    const { agent } = worker([starting(LASTING), { text: "bye", wait: async () => until(hasStarted) }]);
    const runner = createRunner({ ...sharedServices(), agent });
    const { events, outcome } = await watch(runner.run("go"));
    expect(outcome).toMatchObject({ reason: "complete", text: "bye" });
    expect(isThere(pid())).toBe(false);
    expect(ofType(events, "task").map(({ kind }) => kind)).toEqual(["started", "failed"]);
  });

  it("ends when the run is aborted, and when it is stopped by its id", async () => {
    let run: ReturnType<ReturnType<typeof createRunner>["run"]> | undefined;
    const first = worker([
      starting(LASTING),
      {
        text: "never",
        wait: async () => {
          await until(hasStarted);
          void run?.abort();
          await until(() => false);
        },
      },
    ]);
    run = createRunner({ ...sharedServices(), agent: first.agent }).run("go");
    expect((await run.outcome).reason).toBe("aborted");
    expect(isThere(pid())).toBe(false);

    rmSync(pidFile());
    const second = worker([
      starting(LASTING),
      {
        text: "stopping",
        wait: async () => {
          await until(hasStarted);
          const [child] = (await run?.children()) ?? [];
          expect(child).toMatchObject({ kind: "job", name: LASTING, status: "working", background: true });
          expect(await run?.stopChild(child?.id ?? "")).toBe(true);
        },
      },
      "stopped",
    ]);
    run = createRunner({ ...sharedServices(), agent: second.agent }).run("go");
    expect((await run.outcome).reason).toBe("complete");
    expect(isThere(pid())).toBe(false);
  });

  it("goes on while the run is suspended, and is there for who resumes it in this process", async () => {
    const services = sharedServices();
    const { model, agent, executor } = worker([
      { toolCalls: [{ name: "start", input: { command: `${LASTING}; echo late` } }] },
      { toolCalls: [{ name: "ask", input: {} }], wait: async () => until(hasStarted) },
      { text: "then", wait: async () => void (await executor.jobs.kill((await executor.jobs.list())[0]?.id ?? "")) },
      "end",
    ]);
    const waiting = await createRunner({ ...services, agent }).run("go", { session: "s" }).outcome;
    expect(waiting.reason).toBe("awaiting-approval");
    expect(isThere(pid())).toBe(true);
    const runner = createRunner({ ...services, agent });
    const [question] = await runner.approvals.list();
    await runner.approve(question?.token ?? "", { type: "allow" });
    const outcome = await (await runner.resume("s")).outcome;
    expect(outcome.reason).toBe("complete");
    expect(isThere(pid())).toBe(false);
    expect(textsOf(model.requests.at(-1)).filter((text) => text.includes("has ended: killed"))).toHaveLength(1);
  });

  it("counts among what works beside the turns at once until it ends: one too many is ended, and its call fails", async () => {
    const { model, agent, executor } = worker(
      [
        starting("true"),
        { ...starting(LASTING), wait: async () => void (await executor.jobs.ended((await executor.jobs.list())[0]?.id ?? "")) },
        starting("sleep 302"),
        "done",
      ],
      { maxBackground: 1 },
    );
    const { events, outcome } = await watch(createRunner({ ...sharedServices(), agent }).run("go"));
    expect(outcome.reason).toBe("complete");
    const results = ofType(events, "tool-result");
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(JSON.stringify(results[2])).toContain("limits.maxBackground");
    expect((await executor.jobs.list()).map(({ command, status }) => [command, status])).toEqual([
      ["true", "exited"],
      [LASTING, "killed"],
      ["sleep 302", "killed"],
    ]);
    expect(textsOf(model.requests.at(-1)).filter((text) => text.includes("sleep 302"))).toEqual([]);
  });

  it("of a suspended run ends when another process takes the run up, which tells the model that it is gone", async () => {
    const path = join(cwd, "log.sqlite");
    const script = `
      import { createAgent, createRunner, defineTool } from "keelson";
      import { waitForSignalTool } from "keelson/agent";
      import { createProcessExecutor, startJob } from "keelson/environment";
      import { createSqliteEventLog } from "keelson/state";
      import { scriptedModel } from "keelson/testing";
      const executor = createProcessExecutor({ cwd: ${JSON.stringify(cwd)}, killGraceMs: 200 });
      const start = defineTool({ name: "start", description: "Starts a command.", input: { type: "object" },
        execute: async ({ command }, call) => (await startJob(call, executor, { command })).id });
      const model = scriptedModel([{ toolCalls: [{ name: "start", input: { command: ${JSON.stringify(LASTING)} } }] },
        { toolCalls: [{ name: "wait_for_signal" }] }]);
      const agent = createAgent({ name: "worker", model, tools: [start, waitForSignalTool()] });
      const { reason } = await createRunner({ agent, log: createSqliteEventLog(${JSON.stringify(path)}) }).run("go", { session: "s" }).outcome;
      process.stdout.write(reason);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    try {
      expect(String((await once(child.stdout, "data"))[0])).toBe("awaiting-signal");
      await until(hasStarted);
      expect(isThere(pid())).toBe(true);
      await using log = createSqliteEventLog(path);
      const model = scriptedModel(["I see", "noted"]);
      const runner = createRunner({ agent: createAgent({ name: "worker", model, tools: [waitForSignalTool()] }), log });
      await runner.signal("s", { kind: "go", payload: null });
      expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
      expect(textsOf(model.requests.at(-1)).filter((text) => text.includes("no longer works on this run"))).toHaveLength(1);
      await until(() => !isThere(pid()));
      expect(child.exitCode).toBe(null);
    } finally {
      child.kill("SIGKILL");
      await closed;
    }
  });

  it("of a process that was killed ends with it, and who resumes the run tells the model that it is gone", async () => {
    const path = join(cwd, "log.sqlite");
    const script = `
      import { createAgent, createRunner, defineTool } from "keelson";
      import { createProcessExecutor, startJob } from "keelson/environment";
      import { createSqliteEventLog } from "keelson/state";
      import { scriptedModel } from "keelson/testing";
      const executor = createProcessExecutor({ cwd: ${JSON.stringify(cwd)} });
      const start = defineTool({ name: "start", description: "Starts a command.", input: { type: "object" },
        execute: async ({ command }, call) => (await startJob(call, executor, { command })).id });
      const model = scriptedModel([{ toolCalls: [{ name: "start", input: { command: ${JSON.stringify(LASTING)} } }] },
        { text: "", wait: async () => { process.stdout.write("turn"); await new Promise(() => setInterval(() => {}, 1000)); } }]);
      await createRunner({ agent: createAgent({ name: "worker", model, tools: [start] }), log: createSqliteEventLog(${JSON.stringify(path)}) })
        .run("go", { session: "s" }).outcome;`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await until(hasStarted);
    child.kill("SIGKILL");
    await once(child, "close");
    await until(() => !isThere(pid()));

    await using log = createSqliteEventLog(path);
    const { model, agent } = worker(["I see", "noted"]);
    const { outcome, events } = await watch(await createRunner({ agent, log }).resume("s"));
    expect(outcome).toMatchObject({ reason: "complete", text: "noted" });
    const told = textsOf(model.requests.at(-1)).filter((text) => text.includes("background job"));
    expect(told).toEqual([
      expect.stringMatching(/^The background job ".*" \(job_\w+\) ended early \(error\): it ran in a process that is gone/s),
    ]);
    expect(ofType(events, "task").filter(({ kind }) => kind === "failed")).toHaveLength(1);
  });
});
