import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LogId, type LogRecord, sessionLog, type SessionId, type Tool, type ToolSource } from "@keelson/protocol";
import { createProcessExecutor } from "keelson/environment";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { defineTool } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { redactEventLog } from "./redact-event-log.ts";
import { redactExecutor } from "./redact-executor.ts";
import { redactToolSource } from "./redact-tool-source.ts";
import { createRedactor } from "./redactor.ts";

const SECRET = "Zk39-qmw7-Tn04-vbx2";
const redactor = createRedactor({ secrets: [{ name: "vault", value: SECRET }] });
const cwd = await realpath(await mkdtemp(join(tmpdir(), "keelson-test-")));
const exec = redactExecutor(createProcessExecutor({ cwd, env: { VALUE: SECRET } }), redactor);

describe("a redacted executor", () => {
  it("gives back what programs write without secrets, in pieces and as a whole, and where long output is cut", async () => {
    const pieces: string[] = [];
    const blobs = createMemoryBlobStore();
    const command = 'printf %s "$VALUE" | head -c 9; printf %s "$VALUE" | tail -c +10; seq 1 4000; echo "$VALUE" >&2';
    const response = await exec.execute({ command, maxOutputBytes: 64, blobs, onOutput: (_stream, text) => void pieces.push(text) });
    const whole = new TextDecoder().decode(await blobs.get(response.stdoutBlob as never));
    for (const text of [pieces.join(""), response.stdout, response.stderr, whole]) expect(text).not.toContain(SECRET.slice(0, 9));
    expect(whole.startsWith("[REDACTED:vault]1\n2\n")).toBe(true);
    expect(response.stderr).toBe("[REDACTED:vault]\n");
  });

  it("does the same for pipelines and for jobs", async () => {
    const piped = await exec.pipeline?.([
      { command: "sh", args: ["-c", "echo $VALUE"], stderrToStdout: false },
      { command: "cat", args: [], stderrToStdout: false },
    ]);
    expect(piped?.stdout).toBe("[REDACTED:vault]\n");
    const job = await exec.jobs?.start({ command: "echo $VALUE" });
    await exec.jobs?.ended(job?.id ?? "");
    expect((await exec.jobs?.poll(job?.id ?? ""))?.text).toBe("[REDACTED:vault]\n");
  });
});

describe("a redacted log", () => {
  it("keeps no secret in records, summaries and texts that they are found by, and takes an append that is repeated", async () => {
    const under = createMemoryEventLog();
    const log = redactEventLog(under, redactor);
    const id: LogId = sessionLog("s_1" as SessionId);
    const records = [{ key: "k", type: "t", data: { text: `it is ${SECRET}` } }];
    await log.append(id, 0, records, { summary: { about: SECRET } });
    await log.append(id, "any", records);
    const kept: LogRecord[] = [];
    for await (const record of under.read(id)) kept.push(record);
    expect(kept).toHaveLength(1);
    expect(kept[0]?.data).toEqual({ text: "it is [REDACTED:vault]" });
    expect(JSON.stringify(await under.list())).not.toContain(SECRET);
  });
});

describe("a redacted source of tools", () => {
  it("offers tools that tell no secrets, the same list until that changes, and problems without them", async () => {
    const telling = defineTool({ name: "tell", description: "Tells.", input: { type: "object" }, execute: () => SECRET });
    let offered: readonly Tool[] = [telling];
    let closed = false;
    const source: ToolSource = {
      name: "s",
      startupWaitMs: 7,
      open: () => ({
        tools: () => offered,
        problems: () => [`it said ${SECRET}`],
        async [Symbol.asyncDispose]() {
          closed = true;
        },
      }),
    };
    const redacted = redactToolSource(source, redactor);
    expect({ name: redacted.name, wait: redacted.startupWaitMs }).toEqual({ name: "s", wait: 7 });
    const opened = await redacted.open({} as never);
    const tools = opened.tools();
    expect(await tools[0]?.execute({}, {} as never)).toBe("[REDACTED:vault]");
    expect(opened.tools()).toBe(tools);
    offered = [telling, telling];
    expect(opened.tools()).toHaveLength(2);
    expect(opened.problems?.()).toEqual(["it said [REDACTED:vault]"]);
    await opened[Symbol.asyncDispose]();
    expect(closed).toBe(true);
  });
});
