import { createAgent, createRunner, type AgentOptions } from "keelson";
import { agentTool, handoffTool } from "keelson/agent";
import { agentOperators, createLocalOrchestrator, handoff } from "keelson/orchestration";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { InferRequest } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, watch } from "./support.ts";

const handOff = (to: string, task = "go on"): ScriptedTurn => ({
  text: "Not mine.",
  toolCalls: [{ name: `hand_off_to_${to}`, input: { task } }],
});

function textsOf(request: InferRequest | undefined): readonly string[] {
  return (request?.messages ?? []).flatMap(({ role, content }) =>
    content.flatMap((part) => (part.type === "text" ? [`${role}: ${part.text}`] : [])),
  );
}

function team(options: { readonly history?: boolean; readonly billing?: readonly ScriptedTurn[] } = {}) {
  const billingModel = scriptedModel(options.billing ?? ["Refunded."]);
  const billing = createAgent({ name: "billing", description: "Knows money.", model: billingModel });
  const look = recordingTool("look", { effect: "read" });
  const triageModel = scriptedModel([
    { text: "Not mine.", toolCalls: [{ name: "look" }, { name: "hand_off_to_billing", input: { task: "Refund order 7." } }] },
    "never",
  ]);
  const tool = handoffTool(billing, options.history === undefined ? {} : { history: options.history });
  const triage = createAgent({ name: "triage", model: triageModel, tools: [look, tool] });
  return { billing, billingModel, triage, triageModel, look };
}

describe("handing a task to another agent", () => {
  it("ends the run once its calls are done; the handoff stands in its outcome, for whoever called [EF-01]", async () => {
    const { triage, triageModel, look, billingModel } = team();
    const { events, outcome } = await watch(runnerOf(triage).run("My money!", { session: "s" }));
    expect(triageModel.requests[0]?.tools).toMatchObject([
      { name: "hand_off_to_billing", description: expect.stringContaining("Knows money."), inputSchema: { required: ["task"] } },
      { name: "look" },
    ]);
    expect(outcome).toMatchObject({ reason: "handed-off", text: "Not mine.", turns: 1 });
    expect(outcome.effects).toMatchObject([{ type: "handoff", operator: "billing", task: "Refund order 7." }]);
    expect(outcome.effects[0]).not.toHaveProperty("history");
    expect(outcome.effects[0]?.meta?.outcome).toBeUndefined();
    expect(look.calls).toHaveLength(1);
    expect(ofType(events, "tool-result")).toMatchObject([
      { name: "look" },
      { name: "hand_off_to_billing", output: "Handed to billing.", isError: false },
    ]);
    expect(ofType(events, "run-complete")).toMatchObject([{ reason: "handed-off" }]);
    expect([triageModel.requests.length, billingModel.requests.length]).toEqual([1, 0]);
  });

  it("needs a task: arguments that make no sense are the model's to correct, and nothing is handed on", async () => {
    const model = scriptedModel([{ toolCalls: [{ name: "hand_off_to_billing", input: { task: "" } }] }, "Then I do it."]);
    const agent = createAgent({ name: "triage", model, tools: [handoffTool("billing")] });
    const outcome = await runnerOf(agent).run("go").outcome;
    expect(outcome).toMatchObject({ reason: "complete", text: "Then I do it.", effects: [] });
  });

  it("is followed by an orchestrator's pattern: with history in the same session, else in one of its own", async () => {
    for (const history of [true, false]) {
      const { triage, billing, billingModel } = team({ history });
      const runner = createRunner({ clock: impatientClock(), random: () => 0.5, agents: { triage, billing } });
      const orchestrator = createLocalOrchestrator({ operators: agentOperators(runner) });
      const input = { message: [{ type: "text", text: "My money!" }], trigger: "user", metadata: {}, session: "s" } as never;
      const result = await handoff(orchestrator, "triage", input);
      expect(result).toMatchObject({ operators: ["triage", "billing"], output: { message: [{ text: "Refunded." }] } });
      expect(textsOf(billingModel.requests[0])).toEqual(
        history ? ["user: My money!", "assistant: Not mine.", "user: Refund order 7."] : ["user: Refund order 7."],
      );
      expect((await runner.sessions.list()).map(({ id }) => id === "s").sort()).toEqual(history ? [true] : [false, true]);
    }
  });

  it("is carried out by the runner itself where that is asked for, with the history forked", async () => {
    for (const history of [true, false]) {
      const { triage, billing, billingModel } = team({ history });
      const runner = createRunner({
        clock: impatientClock(),
        random: () => 0.5,
        handoffs: "runner",
        log: createMemoryEventLog({ now: () => 0 }),
        agents: { triage, billing },
      });
      const outcome = await runner.run("My money!", { agent: "triage", session: "s" }).outcome;
      expect(outcome).toMatchObject({ reason: "handed-off", effects: [{ type: "handoff", meta: { outcome: "done" } }] });
      while (billingModel.requests.length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      expect(textsOf(billingModel.requests[0])).toEqual(
        history ? ["user: My money!", "assistant: Not mine.", "user: Refund order 7."] : ["user: Refund order 7."],
      );
    }
  });
});

describe("a child that hands its task on", () => {
  const lead = (
    triage: AgentOptions["agents"],
    turns: readonly ScriptedTurn[] = [{ toolCalls: [{ name: "triage", input: { task: "My money!" } }] }, "Done."],
  ) => {
    const model = scriptedModel(turns);
    return { model, agent: createAgent({ name: "lead", model, ...(triage && { agents: triage }) }) };
  };

  it("is followed by its parent: the last output is the result of the call, with or without the history", async () => {
    for (const history of [true, false]) {
      const { triage, billingModel } = team({ history });
      const main = lead({ triage });
      const { events, outcome } = await watch(runnerOf(main.agent).run("go", { session: "s" }));
      expect(outcome).toMatchObject({ reason: "complete", text: "Done.", effects: [] });
      expect(ofType(events, "tool-result").filter(({ path }) => path === undefined)).toMatchObject([
        { output: "Refunded.", isError: false },
      ]);
      expect(ofType(events, "child-start").map(({ agent }) => agent)).toEqual(["triage", "billing"]);
      expect(ofType(events, "child-end").map(({ reason }) => reason)).toEqual(["handed-off", "complete"]);
      const [first, second] = ofType(events, "child-start");
      expect(first?.session === second?.session).toBe(history);
      expect(textsOf(billingModel.requests[0])).toEqual(
        history ? ["user: My money!", "assistant: Not mine.", "user: Refund order 7."] : ["user: Refund order 7."],
      );
      expect(ofType(events, "run-complete").map(({ path, text }) => [path?.join("/"), text])).toEqual([
        ["triage", "Not mine."],
        ["billing", "Refunded."],
        [undefined, "Done."],
      ]);
    }
  });

  it("goes in circles only so often: that is told as a failure", async () => {
    const rounds = Array.from({ length: 20 });
    const ping = createAgent({ name: "ping", model: scriptedModel(rounds.map(() => handOff("pong"))), tools: [handoffTool("pong")] });
    const pong = createAgent({ name: "pong", model: scriptedModel(rounds.map(() => handOff("ping"))), tools: [handoffTool("ping")] });
    const main = lead({ ping }, [{ toolCalls: [{ name: "ping", input: { task: "t" } }] }, "Gave up."]);
    const runner = createRunner({ clock: impatientClock(), agents: { lead: main.agent, pong } });
    const { events, outcome } = await watch(runner.run("go", { agent: "lead" }));
    expect(outcome.text).toBe("Gave up.");
    expect(ofType(events, "child-start")).toHaveLength(9);
    expect(ofType(events, "tool-result").find(({ path }) => path === undefined)).toMatchObject({
      isError: true,
      output: expect.stringMatching(/handed on 9 times, and nobody answered it/),
    });
  });

  it("and names nobody there is, has failed", async () => {
    const triage = createAgent({ name: "triage", model: scriptedModel([handOff("nobody")]), tools: [handoffTool("nobody")] });
    const main = lead({ triage });
    const { events } = await watch(runnerOf(main.agent).run("go"));
    expect(ofType(events, "tool-result").find(({ path }) => path === undefined)).toMatchObject({
      isError: true,
      output: expect.stringMatching(/no agent "nobody".*lead, triage/),
    });
  });

  it("beside the turns is followed too, and its parent hears of the end alone", async () => {
    const { triage, billing } = team({ history: true });
    const model = scriptedModel([{ toolCalls: [{ name: "triage", input: { task: "My money!" } }] }, "Waiting.", "Done."]);
    const agent = createAgent({ name: "lead", model, tools: [triage.asTool({ background: true })] });
    const { events, outcome } = await watch(
      createRunner({ clock: impatientClock(), agents: { lead: agent, billing } }).run("go", { agent: "lead" }),
    );
    expect(outcome.text).toBe("Done.");
    expect(ofType(events, "child-end").map(({ reason }) => reason)).toEqual(["handed-off", "complete"]);
    const told = textsOf(model.requests.at(-1)).filter((text) => text.startsWith("user: The background"));
    expect(told).toEqual([expect.stringMatching(/"triage" \(r_\w+\) is done:\nRefunded\.$/)]);
  });

  it("and whose process ends anywhere on the way is followed all the same, and no result comes twice", async () => {
    const clock = impatientClock();
    const attempt = async (dieAt: number | undefined) => {
      const { triage, billing } = team({ history: true, billing: Array.from({ length: 5 }, () => "Refunded.") });
      const again = triage.with({ model: scriptedModel(Array.from({ length: 5 }, () => triageModelTurn)) });
      const main = lead(
        { triage: again },
        Array.from(
          { length: 9 },
          () => (request) =>
            request.messages.some(({ role }) => role === "tool")
              ? "Done."
              : { toolCalls: [{ name: "triage", input: { task: "My money!" } }] },
        ),
      );
      const log = createMemoryEventLog({ now: () => clock.now() });
      const blobs = createMemoryBlobStore();
      let appends = 0;
      const died = Promise.withResolvers<void>();
      const dying: typeof log = {
        ...log,
        append: (id, ...rest) => {
          const number = appends++;
          if (dieAt === undefined || number < dieAt) return log.append(id, ...rest);
          died.resolve();
          return new Promise<never>(() => {});
        },
      };
      const shared = { clock, blobs, random: () => 0.5, agents: { lead: main.agent, billing } };
      const first = createRunner({ ...shared, log: dying, owner: "one", leaseTtlMs: 5 }).run("go", { agent: "lead", session: "s" });
      if (dieAt === undefined) {
        await first.outcome;
        return { appends, ok: true };
      }
      await died.promise;
      clock.advance(100_000);
      const runner = createRunner({ ...shared, log, owner: "two" });
      const { outcome } = await watch(await runner.resume("s"));
      const { messages } = await runner.sessions.get("s");
      const outputs = messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "tool-result" ? [part.output] : [])));
      return { appends, ok: outcome.text === "Done." && JSON.stringify(outputs) === '["Refunded."]' };
    };
    const { appends } = await attempt(undefined);
    expect(appends).toBeGreaterThan(8);
    for (let dieAt = 1; dieAt < appends; dieAt++) expect({ dieAt, ok: (await attempt(dieAt)).ok }).toEqual({ dieAt, ok: true });
  });
});

const triageModelTurn: ScriptedTurn = {
  text: "Not mine.",
  toolCalls: [{ name: "hand_off_to_billing", input: { task: "Refund order 7." } }],
};

describe("agents given by name", () => {
  it("are tools of those names, in the definition and its digest", async () => {
    const helper = createAgent({ name: "helper", description: "Helps.", model: scriptedModel(["helped"]) });
    const model = scriptedModel([{ toolCalls: [{ name: "assistant", input: { task: "help" } }] }, "Done."]);
    const lead = createAgent({ name: "lead", model, agents: { assistant: helper } });
    const { events, outcome } = await watch(runnerOf(lead).run("go"));
    expect(model.requests[0]?.tools).toMatchObject([{ name: "assistant", description: "Helps." }]);
    expect(ofType(events, "tool-result").find(({ path }) => path === undefined)).toMatchObject({ name: "assistant", output: "helped" });
    expect([outcome.text, lead.subAgents]).toEqual(["Done.", ["helper"]]);
    expect(lead.with({ agents: {} }).digest).not.toBe(lead.digest);
    expect(lead.with({ excludedTools: ["assistant"] }).subAgents).toEqual([]);
  });

  it("are refused where they are none, where they can't be called by their names, and beside a tool of that name", () => {
    const model = scriptedModel([]);
    const helper = createAgent({ name: "helper", model });
    const cases: readonly (readonly [Partial<AgentOptions>, string, RegExp])[] = [
      [{ agents: { helper: {} as never } }, "agents.helper", /is no agent: make it with createAgent/],
      [{ agents: { "a helper": helper } }, "agents.a helper", /must be named by 1 to 64 letters/],
      [{ agents: [helper] as never }, "agents", /must be agents by name/],
      [{ agents: { helper }, tools: [agentTool(helper)] }, "agents.helper", /has the name of a tool/],
    ];
    for (const [options, option, message] of cases) {
      const make = () => createAgent({ name: "lead", model, ...options });
      expect(make).toThrow(message);
      expect(make).toThrow(expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option }) }));
    }
    expect(() => helper.asTool({ limits: { maxTurns: 0 } })).toThrow(
      /limits\.maxTurns of a tool for an agent must be a number of at least 1, not 0/,
    );
    expect(() => helper.asTool({ limits: { maxCost: "much" } })).toThrow(/limits\.maxCost/);
  });

  it("have the limits of the tool that stands for them, for each call anew [AG-20]", async () => {
    const turns: ScriptedTurn[] = Array.from({ length: 4 }, (): ScriptedTurn => ({ text: "so far", toolCalls: [{ name: "none" }] }));
    const helper = createAgent({ name: "helper", model: scriptedModel(turns) });
    const ask: ScriptedTurn = { toolCalls: [{ name: "helper", input: { task: "t" } }] };
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([ask, ask, "Done."]),
      tools: [helper.asTool({ limits: { maxTurns: 2 } })],
    });
    const { events } = await watch(runnerOf(lead).run("go"));
    expect(ofType(events, "child-end").map(({ reason }) => reason)).toEqual(["max-turns", "max-turns"]);
    expect(ofType(events, "run-complete").map(({ turns: worked }) => worked)).toEqual([2, 2, 3]);
    expect(helper.asTool({ limits: { maxTurns: 2 } }).version).not.toBe(helper.asTool().version);
  });
});
