import { PassThrough } from "node:stream";
import { agentTool, createAgent, createRunner, defineTool, type Agent } from "keelson";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import type { CommandHost } from "../core/command-host.ts";
import type { OutputFormat } from "../options/command-line.ts";
import { printRun } from "./print.ts";

/** A run whose child asks before it deploys, printed. */
async function printed(format: OutputFormat): Promise<Printed> {
  const deploy = defineTool({
    name: "deploy",
    description: "Deploys.",
    risk: "high",
    input: { type: "object" },
    execute: () => expect.unreachable("nobody allowed it"),
  });
  const helper = createAgent({
    name: "helper",
    description: "Helps.",
    model: scriptedModel([{ toolCalls: [{ name: "deploy", input: {} }] }, "Deployed."]),
    tools: [deploy],
  });
  const lead = createAgent({
    name: "lead",
    model: scriptedModel([{ text: "I have somebody do it.", toolCalls: [{ name: "helper", input: { task: "deploy" } }] }, "Done."]),
    tools: [agentTool(helper)],
  });
  return printedRunOf(lead, format);
}

interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function printedRunOf(agent: Agent, format: OutputFormat): Promise<Printed> {
  const streams = {
    stdin: new PassThrough(),
    stdout: new PassThrough({ encoding: "utf8" }),
    stderr: new PassThrough({ encoding: "utf8" }),
  };
  const host: CommandHost = {
    ...streams,
    environment: { NO_COLOR: "1" },
    cwd: "/",
    signals: { on: () => {}, off: () => {} },
    command: "keelson",
    version: "0",
    now: () => 0,
    exit: () => {},
  };
  const run = createRunner({ agent, random: () => 0 }).run("Deploy it.", { session: "s" });
  const code = await printRun(run, { format, model: "test/model" }, host);
  return { code, stdout: String(streams.stdout.read() ?? ""), stderr: String(streams.stderr.read() ?? "") };
}

it("ends at a question of a child as at one of the agent itself: with exit code 4, and how to decide it and go on", async () => {
  const { code, stdout, stderr } = await printed("text");
  expect([code, stdout]).toEqual([4, ""]);
  expect(stderr).toMatch(
    /‖ awaiting-approval[^\n]*\nDecide about deploy with one of:\n {2}keelson approve \S+ allow\n[\s\S]*Then continue with:\n {2}keelson -p -r s\n$/,
  );
});

it("tells a question of a child in JSON, with the session of its parent to go on with", async () => {
  const { code, stdout, stderr } = await printed("json");
  const outcome = JSON.parse(stdout) as { readonly waits: readonly { readonly token: string }[] };
  expect(outcome).toMatchObject({ reason: "awaiting-approval", session: "s", waits: [{ operation: "deploy" }], resume: "keelson -p -r s" });
  expect([code, stderr]).toEqual([4, expect.stringContaining(`keelson approve ${outcome.waits[0]?.token} allow`)]);
});

describe("a run that ends without an answer", () => {
  const look = defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "seen" });

  it.each(["text", "json", "stream-json"] as const)("says on standard error that there is no closing text, as %s", async (format) => {
    const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "", ""]);
    const { code, stdout, stderr } = await printedRunOf(createAgent({ name: "a", model, tools: [look] }), format);
    expect(code).toBe(0);
    expect(stderr).toMatch(/no closing text/);
    if (format === "text") expect(stdout).toBe("");
    else expect(JSON.parse(stdout.trim().split("\n").at(-1) as string)).toMatchObject({ reason: "no-action", why: expect.any(String) });
  });

  it.each(["text", "json", "stream-json"] as const)(
    "fails and gives the vendor's reason where the response was none, as %s",
    async (format) => {
      const model = scriptedModel([{ text: "half", stopReason: "other" }]);
      const agent = createAgent({ name: "a", model, limits: { maxRetries: 0 } });
      const { code, stderr } = await printedRunOf(agent, format);
      expect(code).toBe(1);
      expect(stderr).toMatch(/ended its response with the reason "other"/);
    },
  );
});
