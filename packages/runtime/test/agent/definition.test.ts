import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createRunner, type AgentOptions } from "keelson";
import { createRunnerWith, type RunContext } from "keelson/agent";
import { createEphemeralApprovalKeys } from "keelson/agent";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { isFinal, type SessionId, sessionLog } from "@keelson/protocol";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const look: ScriptedTurn = { toolCalls: [{ name: "look" }] };

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function systemOf(options: Partial<AgentOptions>): Promise<string | undefined> {
  const model = scriptedModel(["ok"]);
  await runnerOf(createAgent({ name: "a", model, ...options })).run("go").outcome;
  return model.requests[0]?.system;
}

describe("the prompt of an agent", () => {
  it("is its instructions, appended to or replaced by its systemPrompt [AG-18, MC-07]", async () => {
    expect(await systemOf({})).toBeUndefined();
    expect(await systemOf({ instructions: "Base." })).toBe("Base.");
    expect(await systemOf({ instructions: "Base.", systemPrompt: { type: "append", content: "More." } })).toBe("Base.\n\nMore.");
    expect(await systemOf({ systemPrompt: { type: "append", content: "More." } })).toBe("More.");
    expect(await systemOf({ instructions: "", systemPrompt: { type: "append", content: "More." } })).toBe("More.");
    expect(await systemOf({ instructions: "Base.", systemPrompt: { type: "append", content: "" } })).toBe("Base.");
    expect(await systemOf({ instructions: "Base.", systemPrompt: { type: "replace", content: "Instead." } })).toBe("Instead.");
  });

  it("is asked of a function once for a run, which is told where it runs [RC-01, RC-02, RC-05, AG-23]", async () => {
    const asked: RunContext[] = [];
    const model = scriptedModel([look, "done", "again"]);
    const agent = createAgent({
      name: "a",
      model,
      tools: [recordingTool("look", { effect: "read" })],
      cwd: "/work",
      metadata: { team: "red", user: "nobody" },
      instructions: async (context) => (asked.push(context), `Run ${asked.length}.`),
    });
    const runner = runnerOf(agent);
    const run = runner.run("go", { session: "s", metadata: { user: "ada" } });
    await run.outcome;
    await runner.run("more", { session: "s" }).outcome;
    expect(model.requests.map(({ system }) => system)).toEqual(["Run 1.", "Run 1.", "Run 2."]);
    expect(asked[0]).toEqual({
      session: "s",
      runId: run.id,
      model: "scripted/model",
      retryCount: 0,
      cumulativeCost: "0",
      metadata: { team: "red", user: "ada" },
      cwd: "/work",
    });
    expect(asked[1]?.metadata).toEqual({ team: "red", user: "nobody" });
  });

  it("is told the session of its run, which has one of its own where it was given none [RC-01]", async () => {
    const asked: RunContext[] = [];
    const model = scriptedModel(["one", "two", "three"]);
    const runner = runnerOf(createAgent({ name: "a", model, instructions: (context) => (asked.push(context), "Hi.") }));
    const named = runner.run("go", { session: "s" });
    await named.outcome;
    const unnamed = [runner.run("go"), runner.run("go")];
    for (const run of unnamed) await run.outcome;
    expect(asked.map(({ session }) => session)).toEqual(["s", ...unnamed.map(({ session }) => session)]);
    expect(new Set(asked.map(({ session }) => session)).size).toBe(3);
    // Nothing of another run is there to go on from.
    for (const { session } of unnamed) expect((await runner.sessions.get(session)).messages).toHaveLength(2);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
  });

  it("holds nothing of the app's own data: metadata and what tools work on stay apart, and outlive a rewind [LA-13]", async () => {
    const orders = new Map([["7", "open"]]);
    const model = scriptedModel([look, "first", "second"]);
    const seen: unknown[] = [];
    const agent = createAgent({
      name: "a",
      model,
      metadata: { account: "acme-4242" },
      instructions: (context) => (seen.push(context.metadata), "Keep orders."),
      tools: [recordingTool("look", { effect: "write", output: () => (orders.set("7", "shipped"), "ok") })],
    });
    const runner = runnerOf(agent);
    await runner.run("go", { session: "s" }).outcome;
    expect(seen).toEqual([{ account: "acme-4242" }]);
    expect(JSON.stringify([model.requests, (await runner.sessions.get("s")).messages])).not.toContain("4242");
    await runner.sessions.rewind("s", 0);
    expect((await runner.sessions.get("s")).messages).toEqual([]);
    expect(orders.get("7")).toBe("shipped");
  });

  it("of a function is read from the log when a run goes on, and a function that throws or gives no text is a panic [ET-06]", async () => {
    const services = sharedServices();
    let asked = 0;
    const model = scriptedModel([{ toolCalls: [{ name: "deploy" }] }, "done"]);
    const agent = createAgent({
      name: "a",
      model,
      tools: [recordingTool("deploy", { risk: "high" })],
      instructions: () => `Asked ${++asked}.`,
    });
    const first = await createRunner({ ...services, agent }).run("go", { session: "s" }).outcome;
    const later = createRunner({ ...services, agent });
    await later.approve((first.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    await (
      await later.resume("s")
    ).outcome;
    expect(model.requests.map(({ system }) => system)).toEqual(["Asked 1.", "Asked 1."]);
    const places: string[] = [];
    for await (const { key } of services.log.read(sessionLog("s" as SessionId))) places.push(key.slice(key.indexOf("/") + 1));
    expect(places).toEqual(expect.arrayContaining(["instructions/decision", "instructions"]));
    const wrong: readonly (readonly [() => string, string])[] = [
      [
        () => {
          throw new Error("no file");
        },
        "no file",
      ],
      [() => 7 as never, "the instructions must be a text, not number"],
    ];
    for (const [instructions, message] of wrong) {
      const { error } = await runnerOf(createAgent({ name: "a", model: scriptedModel([]), instructions })).run("go").outcome;
      expect(error?.failure).toMatchObject({ kind: "panic", message: expect.stringContaining(message) });
    }
  });
});

describe("the working directory of an agent", () => {
  it("is told to its tools and to onModelError; without one they get none [AG-23]", async () => {
    const seen: unknown[] = [];
    const tool = recordingTool("look", { effect: "read" });
    tool.execute = (_input, { cwd }) => (seen.push(cwd), "seen");
    const turns: ScriptedTurn[] = [{ error: { kind: "server-error" } }, look, "done"];
    const make = (cwd: Partial<AgentOptions>) =>
      createAgent({
        name: "a",
        model: scriptedModel(turns),
        tools: [tool],
        ...cwd,
        onModelError: (_failure, context) => (seen.push("cwd" in context ? context.cwd : "nowhere"), undefined),
      });
    await runnerOf(make({ cwd: "/srv/project" })).run("go").outcome;
    await runnerOf(make({})).run("go").outcome;
    expect(seen).toEqual(["/srv/project", "/srv/project", "nowhere", undefined]);
  });
});

describe("an agent with an output schema", () => {
  const output = z.object({ total: z.number(), currency: z.string().default("EUR") });

  it("asks for it by the vendor's means, and its outcome has the schema's type [AG-01]", async () => {
    const model = scriptedModel(['{"total": 12.5}']);
    const agent = createAgent({ name: "the.clerk", model, output, outputMode: "native" });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expectTypeOf(outcome.output).toEqualTypeOf<{ total: number; currency: string } | undefined>();
    expect(outcome).toMatchObject({ reason: "complete", output: { total: 12.5, currency: "EUR" } });
    expect(model.requests[0]?.output).toMatchObject({
      name: "the_clerk",
      schema: { type: "object", properties: { total: { type: "number" } } },
    });
    expect(ofType(events, "run-complete")[0]?.output).toEqual({ total: 12.5, currency: "EUR" });
    const unstructured = await runnerOf(createAgent({ name: "a", model: scriptedModel(["text"]) })).run("go").outcome;
    expectTypeOf(unstructured.output).toEqualTypeOf<undefined>();
    expect("output" in unstructured).toBe(false);
  });

  it.each([
    ["is no JSON", "The total is 12.", /no complete JSON.*The total is 12/],
    ["does not match", '{"total": "12"}', /does not give the output that was asked for.*total/],
  ])("ends in an error when the response %s [AG-01]", async (_case, text, message) => {
    const agent = createAgent({ name: "a", model: scriptedModel([text]), output, outputMode: "native", limits: { maxRepairs: 0 } });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome).toMatchObject({ reason: "error", text });
    expect(outcome.error?.message).toMatch(message);
    expect(types(events).at(-1)).toBe("error");
  });

  it("may use tools on the way, and gives no output when it ended early [AG-01]", async () => {
    const tools = [recordingTool("look", { effect: "read" })];
    expect(
      (await runnerOf(createAgent({ name: "a", model: scriptedModel([look, '{"total": 1}']), tools, output })).run("go").outcome).output,
    ).toEqual({ total: 1, currency: "EUR" });
    expect(
      await runnerOf(createAgent({ name: "a", model: scriptedModel([look, look]), tools, output, limits: { maxTurns: 1 } })).run("go")
        .outcome,
    ).not.toHaveProperty("output");
  });
});

describe("debugging an agent", () => {
  const turns: ScriptedTurn[] = [
    { error: { kind: "server-error", message: "overloaded" } },
    { toolCalls: [{ name: "look" }, { name: "write" }, { name: "nothing" }] },
    "done",
  ];
  const make = (options: Partial<AgentOptions>) =>
    createAgent({
      name: "a",
      model: scriptedModel(turns),
      tools: [recordingTool("look", { effect: "read" }), recordingTool("write")],
      permissions: { rules: [{ pattern: "write", behavior: "deny" }] },
      ...options,
    });

  it("shows model calls, retries, the verdict of each gate and the batches as status events; else there are none [AG-24, EV-09]", async () => {
    expect(ofType((await watch(runnerOf(make({})).run("go"))).events, "status")).toEqual([]);
    const { events } = await watch(runnerOf(make({ debug: true })).run("go"));
    const said = ofType(events, "status").map(({ status }) => status.replaceAll(/c_\w+/g, "c"));
    expect(said).toEqual([
      "turn 1, model call 1: scripted/model with 1 messages",
      expect.stringMatching(/^retry 1 of 3 in \d+ ms: server-error: overloaded$/),
      "turn 1, model call 2: scripted/model with 1 messages",
      'look c, gate "find": passed',
      'look c, gate "parse and validate": passed',
      'look c, gate "transform": passed',
      'look c, gate "permission": passed',
      'look c, gate "loop guard": passed',
      'look c, gate "tool-call limit": passed',
      'write c, gate "find": passed',
      'write c, gate "parse and validate": passed',
      'write c, gate "transform": passed',
      expect.stringMatching(/^write c, gate "permission": refused: Not permitted: The permission rule "write" denies it/),
      expect.stringMatching(/^nothing c, gate "find": refused: There is no tool "nothing"/),
      "batch 1 of 1: look c, write c, nothing c",
      "turn 2, model call 1: scripted/model with 5 messages",
    ]);
  });

  it("changes nothing else of the run [AG-24]", async () => {
    const plain = await watch(runnerOf(make({})).run("go"));
    const debugged = await watch(runnerOf(make({ debug: true })).run("go"));
    expect(types(debugged.events).filter((type) => type !== "status")).toEqual(types(plain.events));
    expect(debugged.outcome).toEqual(plain.outcome);
  });

  it("appends the same to a file, line by line, with time and session; runs share it [AG-24]", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keelson-debug-"));
    folders.push(folder);
    const debugFile = join(folder, "debug.log");
    const { events } = await watch(runnerOf(make({ debugFile })).run("go", { session: "one" }));
    expect(ofType(events, "status")).toEqual([]);
    await runnerOf(make({ debugFile })).run("go", { session: "two" }).outcome;
    const lines = (await readFile(debugFile, "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(32);
    expect(lines[0]).toBe("1970-01-01T00:16:40.000Z one turn 1, model call 1: scripted/model with 1 messages");
    expect(lines.filter((line) => line.split(" ")[1] === "two")).toHaveLength(16);
  });

  it("into a file that cannot be written does not touch the run; the process is warned [AG-24]", async () => {
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const { outcome, events } = await watch(runnerOf(make({ debugFile: "/nowhere/at/all/debug.log" })).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(isFinal(events.at(-1) ?? { type: "" })).toBe(true);
    expect((await warned).message).toMatch(/debug file \/nowhere\/at\/all\/debug.log is incomplete.*ENOENT/);
  });

  it("into a file is refused by a runner that cannot open files [AG-24]", () => {
    const clock = impatientClock();
    const services = {
      clock,
      log: createMemoryEventLog(),
      blobs: createMemoryBlobStore(),
      ledger: createMemoryBudgetLedger(),
      approvalKeys: createEphemeralApprovalKeys(),
      owner: "test",
      random: () => 0.5,
      newId: () => "id",
    };
    expect(() => createRunnerWith({ ...services, agent: make({ debugFile: "x" }) })).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option: "debugFile" }) }),
    );
  });
});

describe("the events of a run", () => {
  it("count tokens and cost of each model call by itself, and of the run at its end [EV-10]", async () => {
    const price = { input: "1000", output: "2000", asOf: "2026-01-01" };
    const model = scriptedModel(
      [
        { ...(look as object), usage: { inputTokens: 1000, outputTokens: 10 } },
        { text: "done", usage: { inputTokens: 2000, outputTokens: 20 } },
      ],
      { price },
    );
    const { events } = await watch(
      runnerOf(createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })] })).run("go"),
    );
    expect(ofType(events, "usage").map(({ usage, cost, model: name }) => [usage.inputTokens, usage.outputTokens, cost, name])).toEqual([
      [1000, 10, "1.02", "scripted/model"],
      [2000, 20, "2.04", "scripted/model"],
    ]);
    expect(ofType(events, "run-complete")[0]).toMatchObject({ usage: { inputTokens: 3000, outputTokens: 30 }, cost: "3.06", turns: 2 });
  });

  it("end with an error that says why when the run fails; nothing follows, and the outcome has the same [EV-15, EV-17, EV-21]", async () => {
    const { events, outcome } = await watch(
      runnerOf(
        createAgent({ name: "a", model: scriptedModel([{ text: "half", error: { kind: "authentication", message: "who are you?" } }]) }),
      ).run("go"),
    );
    expect(events.filter(isFinal)).toHaveLength(1);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "error", failure: { kind: "model", message: "who are you?", model: { kind: "authentication" } } });
    expect(types(events)).not.toContain("run-complete");
    expect(outcome.reason).toBe("error");
    expect(outcome.error?.failure).toEqual((last as { readonly failure: unknown }).failure);
  });
});
