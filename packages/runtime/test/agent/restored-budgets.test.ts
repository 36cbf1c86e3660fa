import { agentTool, createAgent, type AgentOptions, type RunOutcome, type Tool } from "keelson";
import { createEphemeralApprovalKeys } from "keelson/agent";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedResponse, type ScriptedTurn } from "keelson/testing";
import { type EventLog, LogError, type LogFailure, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it, vi } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, watch } from "./support.ts";

const LEASE_OVER_MS = 30_001;
const calling = (...names: readonly string[]): ScriptedResponse => ({
  toolCalls: names.map((name) => ({ name, input: { task: `${name} it` } })),
});

/** A model of any process: what it answers depends on the conversation alone. */
function scripted(turns: readonly (string | ScriptedResponse)[]): ReturnType<typeof scriptedModel> {
  const next: ScriptedTurn = ({ messages }) => turns[messages.filter(({ role }) => role === "assistant").length] ?? "over";
  return scriptedModel(Array.from({ length: 20 }, () => next));
}

/** Processes that share a log, each with a ledger in memory of its own. */
function processesOn(main: () => AgentOptions, budget: object) {
  const clock = impatientClock();
  const log = createMemoryEventLog({ now: () => clock.now() });
  const shared = { clock, blobs: createMemoryBlobStore(), approvalKeys: createEphemeralApprovalKeys() };
  return {
    log,
    clock,
    next({ through = log }: { readonly through?: EventLog } = {}) {
      const ledger = createMemoryBudgetLedger();
      const runner = runnerOf(createAgent(main()), { ...shared, log: through, ledger, budgets: [{ id: "team", ...budget }] });
      return { ledger, runner, used: () => ledger.used("team") };
    },
  };
}

/** Marks something, then asks whether it may send something. */
const marking = (mark: Tool, send: Tool, more: Partial<AgentOptions> = {}): AgentOptions => ({
  name: "helper",
  model: scripted([calling("mark"), calling("send"), "helped"]),
  tools: [mark, send],
  permissions: { rules: [{ pattern: "send", behavior: "ask" }] },
  ...more,
});

const ASKING = { rules: [{ pattern: "look", behavior: "ask" }] } as const;

async function sessionsBelow(log: EventLog, session: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { type, data } of log.read(sessionLog(session as SessionId)))
    if (type === "child-start") found.push(data["session"] as string);
  return found;
}

/** Allows what is asked for about one tool. */
async function allow(runner: ReturnType<typeof runnerOf>, { waits = [] }: RunOutcome<unknown>, tool: string): Promise<void> {
  for (const wait of waits)
    if (wait.type === "approval" && "token" in wait && wait.operation === tool) await runner.approve(wait.token, { type: "allow" });
}

describe("a run whose ledger died with its process", () => {
  it("spends nothing before what its open children and theirs used is counted [LA-07, AG-17]", async () => {
    const [mark, send, look] = [recordingTool("mark"), recordingTool("send"), recordingTool("look")];
    const { next } = processesOn(
      () => {
        const deep = createAgent(marking(mark, send, { name: "deep" }));
        const helper = createAgent({ name: "helper", model: scripted([calling("deep"), "helped"]), tools: [agentTool(deep)] });
        return {
          name: "lead",
          model: scripted([calling("helper"), calling("look"), "done"]),
          tools: [look, agentTool(helper, { background: true })],
          permissions: ASKING,
        };
      },
      { maxToolCalls: 3 },
    );
    const first = next();
    const waiting = await first.runner.run("go", { session: "s" }).outcome;
    expect(await first.used()).toMatchObject({ toolCalls: 3 });

    const second = next();
    await allow(second.runner, waiting, "look");
    const { events } = await watch(await second.runner.resume("s"));
    expect(look.calls).toEqual([]);
    expect(ofType(events, "budget")).toContainEqual(expect.objectContaining({ limit: "tool-calls", used: 3, max: 3, scope: "team" }));
    expect(await second.used()).toMatchObject({ toolCalls: 3 });
  });

  it("takes a model call of an open child whose end nobody saw for made, before it spends [LA-07]", async () => {
    const never = { text: "", wait: new Promise<void>(() => {}) };
    let life = 0;
    const models: ReturnType<typeof scriptedModel>[] = [];
    const helpers: ReturnType<typeof scriptedModel>[] = [];
    const { next, clock } = processesOn(
      () => {
        const died = life++ === 0;
        const helping = scriptedModel(died ? [never] : ["helped"]);
        const helper = createAgent({ name: "helper", model: helping });
        const model = scriptedModel(died ? [calling("helper"), never] : ["done"]);
        models.push(model);
        helpers.push(helping);
        return { name: "lead", model, tools: [agentTool(helper, { background: true })] };
      },
      { maxModelCalls: 3 },
    );
    const first = next();
    first.runner.run("go", { session: "s" });
    // The lead's two calls and the helper's, each asked for after it was recorded.
    await vi.waitUntil(() => models[0]?.requests.length === 2 && helpers[0]?.requests.length === 1);
    clock.advance(LEASE_OVER_MS);
    const second = next();
    const outcome = await (await second.runner.resume("s")).outcome;
    expect(outcome.reason).toBe("budget-exhausted");
    expect(models[1]?.requests).toEqual([]);
    expect(await second.used()).toMatchObject({ modelCalls: 3 });
  });
});

describe("a child that is resumed before the run that started it", () => {
  const family = () => {
    const [mark, send, look] = [recordingTool("mark"), recordingTool("send"), recordingTool("look")];
    const lead = (): AgentOptions => ({
      name: "lead",
      model: scripted([calling("one", "other"), calling("look"), calling("look"), "done"]),
      tools: [look, ...["one", "other"].map((name) => agentTool(createAgent(marking(mark, send, { name })), { background: true }))],
      permissions: ASKING,
    });
    return { mark, send, look, lead };
  };

  it("leaves its parent and its siblings what they used [LA-07, AG-17]", async () => {
    const { lead, send, look } = family();
    const { next, log } = processesOn(lead, { maxToolCalls: 4 });
    const first = next();
    const waiting = await first.runner.run("go", { session: "s" }).outcome;
    expect(await first.used()).toMatchObject({ toolCalls: 4 });

    const second = next();
    await allow(second.runner, waiting, "send");
    const [child] = await sessionsBelow(log, "s");
    await (
      await second.runner.resume(child as string)
    ).outcome;
    expect(send.calls).toEqual([]);
    expect(await second.used()).toMatchObject({ toolCalls: 4 });
    await allow(second.runner, waiting, "look");
    await (
      await second.runner.resume("s")
    ).outcome;
    expect([send.calls, look.calls]).toEqual([[], []]);
    expect(await second.used()).toMatchObject({ toolCalls: 4 });
  });

  it("counts once what its parent tells again, and whatever that did elsewhere meanwhile", async () => {
    const { lead, look } = family();
    const { next, log } = processesOn(lead, { maxToolCalls: 10 });
    const waiting = await next().runner.run("go", { session: "s" }).outcome;
    const [child] = await sessionsBelow(log, "s");

    const second = next();
    await (
      await second.runner.resume(child as string)
    ).outcome;
    expect(await second.used()).toMatchObject({ toolCalls: 4 });

    const third = next();
    await allow(third.runner, waiting, "look");
    await (
      await third.runner.resume("s")
    ).outcome;
    expect(look.calls).toHaveLength(1);
    expect(await third.used()).toMatchObject({ toolCalls: 5 });

    await (
      await second.runner.resume("s")
    ).outcome;
    expect(await second.used()).toMatchObject({ toolCalls: 5 });
  });

  it("goes on where its parent's session is gone, and says what is not counted", async () => {
    const { lead } = family();
    const { next, log } = processesOn(lead, { maxToolCalls: 10 });
    await next().runner.run("go", { session: "s" }).outcome;
    const [child] = await sessionsBelow(log, "s");
    await log.delete(sessionLog("s" as SessionId));

    const { events } = await watch(await next().runner.resume(child as string));
    expect(warnings(events)).toEqual([expect.stringMatching(/other children used is not counted: session "s" does not hold it/)]);
  });
});

describe("a child's log that can't be read", () => {
  const failing = (log: EventLog, failure: LogFailure): EventLog => ({
    ...log,
    async *read(id, options) {
      for await (const record of log.read(id, options)) {
        if (id.includes("~") && !id.endsWith("/inbox") && record.seq > 5) throw new LogError(failure);
        yield record;
      }
    },
  });
  const family = () =>
    processesOn(
      () => ({
        name: "lead",
        model: scripted([calling("helper"), calling("look"), "done"]),
        tools: [recordingTool("look"), agentTool(createAgent(marking(recordingTool("mark"), recordingTool("send"))), { background: true })],
        permissions: ASKING,
      }),
      { maxToolCalls: 9 },
    );

  it("is counted as far as it can be, where it is damaged, and the run says so", async () => {
    const { next, log } = family();
    await next().runner.run("go", { session: "s" }).outcome;
    const { runner } = next({ through: failing(log, { kind: "corrupt", log: "", message: "record 6 does not decode" }) });
    const { events } = await watch(await runner.resume("s"));
    expect(warnings(events)[0]).toMatch(/is counted only up to record 5, .* record 6 does not decode/);
  });

  it("is waited for, where it only can't be read for now", async () => {
    const { next, log } = family();
    await next().runner.run("go", { session: "s" }).outcome;
    const { runner } = next({ through: failing(log, { kind: "unavailable", message: "the disk is away" }) });
    const run = await runner.resume("s");
    expect((await run.outcome).error?.message).toMatch(/the disk is away/);
    expect((await (await next().runner.resume("s")).outcome).reason).toBe("awaiting-approval");
  });
});

function warnings(events: Parameters<typeof ofType>[0]): readonly string[] {
  return ofType(events, "status").flatMap(({ status, level }) => (level === "warn" ? [status] : []));
}
