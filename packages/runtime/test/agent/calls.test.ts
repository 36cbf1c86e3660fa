import { createAgent, createRunner, defineTool, type AgentOptions, type Run } from "keelson";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { createHookRegistry, type HookRegistry } from "keelson/agent";
import { type Rule, ruleAfter, ruleBefore, rulesFrom } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  type Approver,
  type BlobStore,
  type Decision,
  type JsonValue,
  type Durability,
  type EventLog,
  type SessionId,
  sessionLog,
  type Tool,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const calling = (...names: readonly string[]): ScriptedTurn => ({ toolCalls: names.map((name, n) => ({ name, input: { n } })) });
const price = { input: "0", output: "1000", asOf: "2026-01-01" };

function agentOf(turns: readonly ScriptedTurn[], tools: readonly Tool[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "a", model, tools, ...options }) };
}

/** A tool that takes so long on this clock. */
function lasting(clock: ReturnType<typeof impatientClock>, ms: number, name = "last"): Tool {
  return defineTool({
    name,
    description: "Takes its time.",
    effect: "read",
    input: { type: "object" },
    execute: () => (clock.advance(ms), "done"),
  });
}

describe("the calls of a response", () => {
  it("are told as the model wrote them, and as they were understood, where they were", async () => {
    const { agent } = agentOf(
      [
        {
          toolCalls: [
            { name: "look", input: { at: 1 } },
            { name: "look", inputText: "at the door" },
          ],
        },
        "done",
      ],
      [recordingTool("look", { effect: "read" })],
    );
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "tool-calls-start").map(({ calls }) => calls)).toEqual([
      [
        { callId: expect.any(String), name: "look", inputText: '{"at":1}', input: { at: 1 } },
        { callId: expect.any(String), name: "look", inputText: "at the door" },
      ],
    ]);
  });

  it("say how long each took, and nothing where it did not run", async () => {
    const clock = impatientClock();
    const { agent } = agentOf([calling("last", "nowhere"), "done"], [lasting(clock, 70)]);
    const { events } = await watch(runnerOf(agent, { clock }).run("go"));
    expect(ofType(events, "tool-result").map(({ durationMs }) => durationMs)).toEqual([70, 0]);
  });

  it("survive a power cut where they wrote something, and are not waited for on the disk where they only read", async () => {
    const services = sharedServices();
    const kept: Record<string, Durability | undefined> = {};
    const log: EventLog = {
      ...services.log,
      append(id, seq, records, options) {
        for (const { type, data } of records) if (type === "tool-result") kept[String(data["name"])] = options?.durability;
        return services.log.append(id, seq, records, options);
      },
    };
    const turns = [calling("write"), calling("look"), calling("forbidden"), "done"];
    const { agent } = agentOf(turns, [recordingTool("write"), recordingTool("look", { effect: "read" }), recordingTool("forbidden")], {
      permissions: { rules: [{ pattern: "forbidden", behavior: "deny" }] },
    });
    expect((await createRunner({ ...services, log, agent }).run("go", { session: "s" }).outcome).reason).toBe("complete");
    expect(kept).toEqual({ write: "power", look: "process", forbidden: "process" });
  });

  it("are not made again where the run waited for one of them", async () => {
    const services = sharedServices();
    const look = recordingTool("look", { effect: "read" });
    const write = recordingTool("write");
    const helper = createAgent({
      name: "helper",
      description: "Helps.",
      model: scriptedModel([calling("write"), "helped"]),
      tools: [write],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const { agent, model } = agentOf(
      [
        {
          toolCalls: [
            { name: "look", input: {} },
            { name: "helper", input: { task: "help" } },
          ],
        },
        "done",
      ],
      [look, helper.asTool() as Tool],
    );
    const runner = createRunner({ ...services, agent });
    const waiting = await runner.run("go", { session: "s" }).outcome;
    expect([waiting.reason, look.calls.length, write.calls.length]).toEqual(["awaiting-approval", 1, 0]);
    await runner.approve((waiting.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect([look.calls.length, write.calls.length]).toEqual([1, 1]);
    expect(model.requests[1]?.messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool-result")).toHaveLength(2);
  });

  it("are each told what they are: a key of their own, the first attempt, and where the agent works", async () => {
    const told: unknown[] = [];
    const look = recordingTool("look", { effect: "read" });
    look.execute = (_input, { idempotencyKey, attempt, agent, progress, ...rest }) => {
      told.push([idempotencyKey, attempt, agent, "cwd" in rest]);
      progress("half");
      progress("more", 0.75);
      return "seen";
    };
    const { agent } = agentOf([calling("look", "look"), "done"], [look]);
    const { events } = await watch(runnerOf(agent).run("go"));
    const key = expect.stringMatching(/^k_\w{16,}$/);
    expect(told).toEqual([
      [key, 1, "a", false],
      [key, 1, "a", false],
    ]);
    expect(new Set(told.map((call) => (call as readonly unknown[])[0])).size).toBe(2);
    const progress = ofType(events, "tool-progress");
    expect(progress.map(({ message }) => message)).toEqual(["half", "more", "half", "more"]);
    expect(progress.map((event) => "ratio" in event)).toEqual([false, true, false, true]);
  });

  it("may be passed on as a copy, with all that belongs to them", async () => {
    let copied: object = {};
    const look = recordingTool("look", { effect: "read" });
    look.execute = (_input, call) => ((copied = { ...call }), "seen");
    await runnerOf(agentOf([calling("look"), "done"], [look]).agent).run("go").outcome;
    expect(copied).toMatchObject({
      idempotencyKey: expect.stringMatching(/^k_/),
      stopping: expect.any(AbortSignal),
      callId: expect.any(String),
    });
  });

  it("tell who debugs them in which company they run", async () => {
    const shared = ["look", "peek"].map((name) => recordingTool(name, { effect: "read", concurrency: "shared" }));
    const { agent } = agentOf([calling("look", "peek", "write"), "done"], [...shared, recordingTool("write")], { debug: true });
    const { events } = await watch(runnerOf(agent).run("go"));
    const told = ofType(events, "status").map(({ status }) => status);
    expect(told).toContainEqual(expect.stringMatching(/batch 1 of 2: look \S+, peek \S+$/));
    expect(told).toContainEqual(expect.stringMatching(/batch 2 of 2: write \S+$/));
  });
});

describe("a person's answer to a call", () => {
  const asking = { permissions: { rules: [{ pattern: "write", behavior: "ask" }] } } as const;
  const decided = async (decide: (asked: string, nth: number, input: JsonValue) => Decision) => {
    const write = defineTool({
      name: "write",
      description: "Writes.",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false },
      execute: (input) => (written.push(input), "written"),
    });
    const written: unknown[] = [];
    const { agent, model } = agentOf([calling("write"), "done"], [write as Tool], asking);
    const asked: string[] = [];
    const approvals: Approver = ({ reason, input }) => (asked.push(reason), decide(reason, asked.length, input));
    const { events } = await watch(runnerOf(agent, { approvals }).run("go"));
    return { written, asked, events, output: ofType(events, "tool-result")[0]?.output, requests: model.requests };
  };

  it("with arguments that are not valid is asked for again, with what is wrong with them and why it was asked at first; three times at most", async () => {
    const edited = await decided((_asked, nth) => ({ type: "allow-modified", input: nth === 1 ? { n: "one" } : { n: 1 } }));
    expect(edited.written).toEqual([{ n: 1 }]);
    expect(edited.asked).toHaveLength(2);
    expect(edited.asked[1]).toMatch(/^The edited arguments are not valid: .*\bn\b.*\(.+\)$/s);
    expect(edited.asked[1]).toContain(edited.asked[0]);
    const stubborn = await decided(() => ({ type: "allow-modified", input: { n: "one" } }));
    expect([stubborn.asked.length, stubborn.written.length]).toEqual([3, 0]);
    expect(ofType(stubborn.events, "tool-result")[0]).toMatchObject({ isError: true });
  });

  it("to an edit that was not valid is asked for what would run then: the arguments as they were, which can be allowed", async () => {
    const shown: unknown[] = [];
    const { written, events } = await decided((_asked, nth, input) => {
      shown.push(input);
      return nth === 1 ? { type: "allow-modified", input: { n: "one" } } : { type: "allow" };
    });
    expect(shown).toEqual([shown[0], shown[0]]);
    expect(written).toEqual([shown[0]]);
    expect(ofType(events, "tool-result")[0]).toMatchObject({ output: "written", executed: `write:${JSON.stringify(shown[0])}` });
  });

  it("that declines tells the model so, with its reason if it has one", async () => {
    const rest = "Do not try it again in another form; go on without it or ask what to do.";
    expect((await decided(() => ({ type: "deny" }))).output).toBe(`A person declined this call. ${rest}`);
    expect((await decided(() => ({ type: "deny", reason: "too late" }))).output).toBe(`A person declined this call: too late. ${rest}`);
  });

  it("that does not answer the question runs nothing, and the model learns what it was", async () => {
    const { output, written } = await decided(() => ({ type: "supply", output: "made up" }));
    expect(output).toBe('The question was answered with "supply", which does not answer it; the call did not run.');
    expect(written).toEqual([]);
  });

  it("that allows always says for what; one that allows says nothing of the kind", async () => {
    const decisions = async (type: "allow" | "allow-always") =>
      ofType((await decided(() => ({ type }))).events, "approval-decision").map(({ rules }) => rules);
    // A rule asked: nothing may be allowed for good.
    expect([await decisions("allow"), await decisions("allow-always")]).toEqual([[undefined], [[]]]);
  });
});

describe("a question to a person survives a power cut:", () => {
  /** What the log was asked for as it was given a record of this type. */
  const durabilityOf = async (type: string, approvals?: Approver) => {
    const services = sharedServices();
    const kept: (Durability | undefined)[] = [];
    const log: EventLog = {
      ...services.log,
      append(id, seq, records, options) {
        if (records.some((record) => record.type === type)) kept.push(options?.durability);
        return services.log.append(id, seq, records, options);
      },
    };
    const { agent } = agentOf([calling("look"), "done"], [recordingTool("look", { effect: "read" })], {
      permissions: { rules: [{ pattern: "look", behavior: "ask" }] },
    });
    await createRunner({ ...services, log, agent, ...(approvals && { approvals }) }).run("go").outcome;
    return kept;
  };

  it("what was decided", async () => {
    expect(await durabilityOf("approval-decision", () => ({ type: "allow" }))).toEqual(["power"]);
  });

  it("that the run waits for it", async () => {
    expect(await durabilityOf("run-suspend")).toEqual(["power"]);
  });
});

describe("a run whose money is gone", () => {
  /** The vendor reports more output than was allowed, so that the call costs more than it reserved. */
  const spent = async (tools: readonly Tool[]) => {
    const model = scriptedModel([{ ...(calling(...tools.map(({ name }) => name)) as object), usage: { outputTokens: 20_000 } }, "never"], {
      price,
    });
    const agent = createAgent({ name: "a", model, tools, limits: { maxCost: "6" }, settings: { maxTokens: 4096 } });
    const { events } = await watch(runnerOf(agent).run("go"));
    return ofType(events, "tool-result").map(({ name, isError }) => `${name} ${isError ? "refused" : "ran"}`);
  };
  const shared = (name: string, effect: "read" | "write"): Tool => recordingTool(name, { effect, concurrency: "shared" });

  it("still reads, beside the writes that it refuses, in whatever order", async () => {
    expect(await spent([shared("look", "read"), shared("write", "write")])).toEqual(["look ran", "write refused"]);
    expect(await spent([shared("write", "write"), shared("look", "read")])).toEqual(["write refused", "look ran"]);
  });

  it("asks no ledger where nothing would change the world", async () => {
    const ledger = createMemoryBudgetLedger();
    const asked: string[] = [];
    const watched = { ...ledger, used: (scope: string) => (asked.push(scope), ledger.used(scope)) };
    const model = scriptedModel([calling("look"), "done"], { price });
    const agent = createAgent({ name: "a", model, tools: [shared("look", "read")], limits: { maxCost: "60", budgetThresholds: [] } });
    expect((await runnerOf(agent, { ledger: watched }).run("go").outcome).reason).toBe("complete");
    expect(asked).toEqual([]);
  });
});

it("an output that can't be kept whole is told of as its tool's, and as a child's", async () => {
  const blobs: BlobStore = { ...createMemoryBlobStore(), put: () => Promise.reject(new Error("the disk is full")) };
  const long = "x".repeat(60_000);
  const helper = createAgent({ name: "helper", description: "Helps.", model: scriptedModel([long]) });
  const turn: ScriptedTurn = {
    toolCalls: [
      { name: "READ_ALL", input: {} },
      { name: "helper", input: { task: "help" } },
    ],
  };
  const { agent } = agentOf([turn, "done"], [recordingTool("read_all", { effect: "read", output: () => long }), helper.asTool() as Tool]);
  const { events } = await watch(runnerOf(agent, { blobs }).run("go"));
  const warned = ofType(events, "status").filter(({ level, path }) => level === "warn" && path === undefined);
  expect(warned.map(({ status }) => status)).toEqual([
    expect.stringMatching(/^read_all: The whole output of \d+ bytes could not be kept: .*the disk is full/),
    expect.stringMatching(/^helper: The whole output of \d+ bytes could not be kept: .*the disk is full/),
  ]);
});

describe("steering between calls", () => {
  it("is read before the next batch and after the last one: what did not start says so, the model reads on", async () => {
    let run: Run | undefined;
    const first = recordingTool("first");
    first.execute = async () => (await run?.steer("stop that", { interrupt: true }), "did");
    const second = recordingTool("second");
    const { agent, model } = agentOf([calling("first", "second", "nowhere"), "ok"], [first, second]);
    run = runnerOf(agent).run("go");
    const { events } = await watch(run);
    expect(second.calls).toEqual([]);
    expect(ofType(events, "tool-result").map(({ output }) => output)).toEqual([
      "did",
      "Not run: the user sent a new message first. Read it, then decide again.",
      expect.stringContaining("nowhere"),
    ]);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool", "user"]);
    // It stands in the log where it was read: while the calls were still open.
    expect(types(events).indexOf("steer")).toBeLessThan(types(events).indexOf("tool-calls-complete"));
  });

  it("is told to rules each time, with the calls that it pushed aside by their tools' own names", async () => {
    let run: Run | undefined;
    const seen: unknown[] = [];
    const steered = async (rule: Rule, turns: readonly ScriptedTurn[]) => {
      const first = recordingTool("first");
      first.execute = async () => (await run?.steer("stop that", { interrupt: true }), "did");
      run = runnerOf(agentOf(turns, [first, recordingTool("second")], { rules: [rule] }).agent).run("go");
      return run.outcome;
    };
    const turns = [calling("first", "SECOND"), calling("first", "second", "second"), "ok"];
    const look = ruleBefore("steering-skip", "look", 0, ({ input }) => void seen.push(input));
    expect((await steered(look, turns)).reason).toBe("complete");
    const second = { callId: expect.any(String), name: "second" };
    expect(seen).toEqual([{ calls: [second] }, { calls: [second, second] }]);
    const change = ruleBefore("steering-skip", "change", 0, () => ({ type: "modify-input", input: { calls: [] } }));
    expect((await steered(change, turns)).error?.message).toMatch(/^the rule "change" cannot do that at "steering-skip"/);
  });

  it("that comes during the last batch stands before the end of the calls", async () => {
    let run: Run | undefined;
    const only = recordingTool("only");
    only.execute = async () => (await run?.steer("and then?"), "did");
    const { agent, model } = agentOf([calling("only"), "ok"], [only]);
    run = runnerOf(agent).run("go");
    const { events } = await watch(run);
    expect(types(events).indexOf("steer")).toBeLessThan(types(events).indexOf("tool-calls-complete"));
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "user", content: [{ text: "and then?" }] });
  });
});

describe("rules that look at results", () => {
  const long = (): Tool => recordingTool("read_all", { effect: "read", output: () => "x".repeat(100_000) });

  it("leave the whole of a long output readable where they put something else in its place", async () => {
    const { agent } = agentOf([calling("read_all"), "done"], [long()], {
      rules: [ruleAfter("execute-tool", "r", 0, () => ({ type: "modify-output", output: "in short: x" }))],
    });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "tool-result")).toMatchObject([
      { output: "in short: x", isError: false, blob: expect.stringMatching(/^sha256:/) },
    ]);
    const short = agentOf([calling("look"), "done"], [recordingTool("look", { effect: "read" })], {
      rules: [ruleAfter("execute-tool", "r", 0, () => ({ type: "modify-output", output: "seen" }))],
    });
    expect(ofType((await watch(runnerOf(short.agent).run("go"))).events, "tool-result")[0]).not.toHaveProperty("blob");
  });

  it("turn a failure into a success where they give a result in its place", async () => {
    const failing = recordingTool("fail", {
      effect: "read",
      output: () => {
        throw new Error("no such door");
      },
    });
    const { agent } = agentOf([calling("fail"), "done"], [failing], {
      rules: [ruleAfter("execute-tool", "r", 0, () => ({ type: "modify-output", output: "try the window" }))],
    });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "tool-result")).toMatchObject([{ output: "try the window", isError: false }]);
  });

  it("are told of each call by its tool's own name and with its input, and asked no more once one of them threw; all that ran is told", async () => {
    const seen: unknown[] = [];
    const tools = ["one", "two"].map((name) => recordingTool(name, { effect: "read", concurrency: "shared" }));
    const { agent } = agentOf([calling("ONE", "two"), "never"], tools, {
      rules: [
        ruleAfter("execute-tool", "r", 0, ({ input }) => {
          seen.push(input);
          throw new Error("enough");
        }),
      ],
    });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "panic" });
    expect(seen).toEqual([{ name: "one", input: { n: 0 } }]);
    expect(ofType(events, "tool-result").map(({ output }) => output)).toEqual(["one done", "two done"]);
  });

  it("change arguments, which are kept for hooks behind tools: not where there are none, or the call did not run", async () => {
    const kept = async (name: string, hooks?: HookRegistry) => {
      const log = createMemoryEventLog();
      const { agent } = agentOf([calling(name), "done"], [recordingTool("look"), recordingTool("forbidden")], {
        rules: [ruleBefore("execute-tool", "r", 0, () => ({ type: "modify-input", input: { name, input: { n: 7 } } }))],
        permissions: { rules: [{ pattern: "forbidden", behavior: "deny" }] },
        ...(hooks && { hooks }),
      });
      await runnerOf(agent, { log }).run("go", { session: "s" }).outcome;
      const found: unknown[] = [];
      for await (const { type, data } of log.read(sessionLog("s" as SessionId))) if (type === "hook-arguments") found.push(data);
      return found;
    };
    const hooks = createHookRegistry().onPostToolUse("*", () => undefined);
    expect(await kept("look", hooks)).toEqual([{ arguments: { n: 7 } }]);
    expect(await kept("forbidden", hooks)).toEqual([]);
    expect(await kept("look")).toEqual([]);
  });

  it("are not asked about calls that did not run", async () => {
    const seen: string[] = [];
    const { agent } = agentOf([calling("nowhere"), "done"], [recordingTool("look")], {
      rules: rulesFrom({ name: "r", afterToolCall: (tool) => void seen.push(tool) }),
    });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("complete");
    expect(seen).toEqual([]);
  });
});
