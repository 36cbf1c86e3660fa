import { createAgent, createRunner, defineTool, type AgentOptions, type Run, type RunnerOptions } from "keelson";
import { createHookRegistry } from "keelson/agent";
import { ruleAfter, ruleBefore } from "keelson/context";
import type { Clock } from "keelson/session";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  type EventLog,
  isFinal,
  type JsonValue,
  type LogRecord,
  type SessionId,
  sessionLog,
  textMessage,
  type Tool,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const calling = (...names: readonly string[]): ScriptedTurn => ({ toolCalls: names.map((name, n) => ({ name, input: { n } })) });

function agentOf(turns: readonly ScriptedTurn[], tools: readonly Tool[] = [], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "a", model, tools, ...options }) };
}

describe("the time of a run, by what its log says,", () => {
  /** Begins one turn that takes so long, at 1,000,000. */
  const lasting = async (ms: number, options: Partial<AgentOptions>, deadline?: number) => {
    const clock = impatientClock(1_000_000);
    const last = defineTool({
      name: "last",
      description: "Takes its time.",
      effect: "read",
      input: { type: "object" },
      execute: () => (clock.advance(ms), "done"),
    }) as Tool;
    const { agent, model } = agentOf([calling("last"), "done"], [last], options);
    const log = createMemoryEventLog({ now: () => clock.now() });
    const run = runnerOf(agent, { clock, log }).run("go", deadline === undefined ? {} : { deadline });
    return [(await run.outcome).reason, model.requests.length];
  };

  it("is over once it passed its limit, and no sooner: what comes next does not begin then", async () => {
    const limits = { maxDurationMs: 1000 };
    expect(await lasting(1000, { limits })).toEqual(["complete", 2]);
    expect(await lasting(1001, { limits })).toEqual(["timeout", 1]);
    expect(await lasting(1_000_000, {})).toEqual(["complete", 2]);
  });

  it("is over once it passed its deadline, and no sooner", async () => {
    expect(await lasting(1000, {}, 1_001_000)).toEqual(["complete", 2]);
    expect(await lasting(1001, {}, 1_001_000)).toEqual(["timeout", 1]);
  });

  it("goes on while it waits for a person", async () => {
    const services = sharedServices();
    const { agent, model } = agentOf([calling("write"), "never"], [recordingTool("write")], {
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
      limits: { maxDurationMs: 1000 },
    });
    const runner = createRunner({ ...services, agent });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    services.clock.advance(5000);
    await runner.approve((waits?.[0] as { readonly token: string }).token, { type: "allow" });
    expect([(await (await runner.resume("s")).outcome).reason, model.requests.length]).toEqual(["timeout", 1]);
  });
});

describe("a run that is told to end while it waits to ask a model again", () => {
  const overloaded: ScriptedTurn = { error: { kind: "server-error", message: "overloaded" } };

  it.each([
    ["aborted", (run: Run<undefined>) => run.abort()],
    ["stopped", (run: Run<undefined>) => run.stop()],
  ] as const)("ends as %s, and does not ask", async (reason, end) => {
    const { agent, model } = agentOf([overloaded, "never"]);
    let begun = (): void => {};
    const waiting = new Promise<void>((resolve) => (begun = resolve));
    /** A clock on which nobody's time comes. */
    const patient: Clock = {
      now: () => 1_000_000,
      after: (_ms, _run, options) => {
        if (options?.keepAlive !== false && model.requests.length > 0) begun();
        return () => {};
      },
    };
    const run = runnerOf(agent, { clock: patient }).run("go");
    await waiting;
    await end(run);
    expect([(await run.outcome).reason, model.requests.length]).toEqual([reason, 1]);
  });

  it("ends at its deadline", async () => {
    const { agent, model } = agentOf([{ error: { kind: "rate-limit", retryAfterMs: 60_000 } as never }, "never"], [], {
      limits: { maxDurationMs: 20 },
    });
    expect([(await createRunner({ agent }).run("go").outcome).reason, model.requests.length]).toEqual(["timeout", 1]);
  });
});

describe("what others tell a run", () => {
  /** A run that is told something by its tool, and what its log holds then. */
  const told = async (tell: (run: Run<undefined>) => Promise<unknown>, options: Partial<AgentOptions> = {}, more: RunnerOptions = {}) => {
    let run: Run<undefined> | undefined;
    const look = recordingTool("look", { effect: "read" });
    look.execute = async () => (await tell(run as Run<undefined>), "seen");
    const { agent, model } = agentOf([calling("look"), "done"], [look], options);
    const log = createMemoryEventLog();
    run = runnerOf(agent, { log, ...more }).run("go", { session: "s" });
    const { events, outcome } = await watch(run);
    return { events, outcome, model };
  };

  it("of the model that it has changes nothing, and is not told as a change", async () => {
    const { events, outcome } = await told((run) => run.setModel("scripted/model"));
    expect(outcome.reason).toBe("complete");
    expect(types(events)).not.toContain("model-switch");
  });

  it("is marked as read, and marked as an ending only where it ends the run", async () => {
    const steered = await told((run) => run.steer("left"));
    expect(ofType(steered.events, "inbox-read").map(({ type: _type, ...rest }) => Object.keys(rest))).toEqual([
      expect.not.arrayContaining(["stopping"]),
    ]);
    for (const end of ["stop", "abort"] as const) {
      const { events, outcome } = await told((run) => run[end]());
      expect(outcome.reason).toBe(end === "stop" ? "stopped" : "aborted");
      expect(ofType(events, "inbox-read").map(({ stopping }) => stopping)).toEqual([end]);
    }
  });

  it("ends the run as a panic where a rule puts something else than a message in its place", async () => {
    for (const input of [{ messages: ["go right"] }, { messages: [{ role: "nobody", content: [] }] }] as readonly JsonValue[]) {
      const { outcome, model } = await told((run) => run.steer("go left"), {
        rules: [ruleBefore("inject-steering", "r", 0, () => ({ type: "modify-input", input }))],
      });
      expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: "a rule on inject-steering" });
      expect(outcome.error?.message).toMatch(
        /^a rule put something in the place of steering that is no message \(.+\): return a message, or null to withhold it$/s,
      );
      expect(model.requests).toHaveLength(1);
    }
  });

  it("is shown to rules on steering one by one, where it is steering", async () => {
    const seen: unknown[] = [];
    const louder = ruleBefore("inject-steering", "r", 0, ({ input }) => {
      const { messages } = input as { readonly messages: readonly JsonValue[] };
      seen.push(messages);
      return {
        type: "modify-input",
        input: { messages: JSON.parse(JSON.stringify(messages).replace("left", "LEFT").replace("right", "RIGHT")) },
      };
    });
    const { events } = await told(
      async (run) => {
        await run.steer("left");
        await run.setModel("scripted/model");
        await run.steer("right");
      },
      { rules: [louder] },
    );
    expect(seen).toEqual(["left", "right"].map((text) => [textMessage("user", text)]));
    expect(ofType(events, "steer").map(({ message }) => message)).toEqual(["LEFT", "RIGHT"].map((text) => textMessage("user", text)));
  });

  it("is heard beside signals of the same moment", async () => {
    const { events, model } = await told(async (run) => {
      await run.steer("left");
      await run.signal({ kind: "news", payload: "rain" });
      await run.steer("right");
    });
    expect(ofType(events, "inbox-read").map(({ signal }) => signal?.kind)).toEqual([undefined, "news", undefined]);
    const said = model.requests[1]?.messages.slice(3).flatMap(({ content }) => content.map((part) => ("text" in part ? part.text : "")));
    expect(said).toEqual(["left", expect.stringContaining("rain"), "right"]);
  });

  it("is dropped where a rule leaves nothing of it", async () => {
    for (const input of [null, {}, { messages: [] }] as readonly JsonValue[]) {
      const { outcome, model, events } = await told((run) => run.steer("go left"), {
        rules: [ruleBefore("inject-steering", "r", 0, () => ({ type: "modify-input", input }))],
      });
      expect([outcome.reason, model.requests[1]?.messages.at(-1)?.role]).toEqual(["complete", "tool"]);
      expect(types(events)).not.toContain("steer");
    }
  });
});

describe("the last response of a run", () => {
  it("is not the last where a rule says something behind it, as the user would", async () => {
    let said = 0;
    const { agent, model } = agentOf(["one", "two"], [], {
      rules: [
        ruleAfter("append-response", "once", 0, async ({ context }) => {
          if (said++ === 0) await context.injectMessage(textMessage("user", "and now?"));
        }),
      ],
    });
    expect(await runnerOf(agent).run("go").outcome).toMatchObject({ reason: "complete", text: "two", turns: 2 });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  it("is what the run gave, with the reason that its end has", async () => {
    for (const [stopReason, reason] of [
      ["content-filter", "safety-stop"],
      ["max-tokens", "max-output"],
      ["end-turn", "complete"],
    ] as const)
      expect(await runnerOf(agentOf([{ text: "so", stopReason }]).agent).run("go").outcome).toMatchObject({ reason, text: "so" });
  });

  it("is told to the callback after a turn: as well where it is whole, as failed where it is not", async () => {
    const after = async (turn: ScriptedTurn) => {
      const told: unknown[] = [];
      const { agent } = agentOf([turn], [], { afterTurn: (_context, end) => void told.push(end) });
      await runnerOf(agent).run("go").outcome;
      return told;
    };
    expect(await after("whole")).toEqual([{ type: "ok" }]);
    expect(await after({ text: "ha", stopReason: "max-tokens" })).toEqual([{ type: "failed", reason: "max-output" }]);
  });
});

describe("the end of a run", () => {
  const ended = async (turn: ScriptedTurn) => {
    const services = sharedServices();
    const kept: (string | undefined)[] = [];
    const log: EventLog = {
      ...services.log,
      append(id, seq, records, options) {
        if (records.some((record) => isFinal(record))) kept.push(options?.durability);
        return services.log.append(id, seq, records, options);
      },
    };
    await createRunner({ ...services, log, agent: agentOf([turn]).agent }).run("go", { session: "s" }).outcome;
    const last: LogRecord[] = [];
    for await (const record of log.read(sessionLog("s" as SessionId))) last.push(record);
    return { kept, types: last.slice(-2).map(({ type }) => type), places: last.slice(-2).map(({ key }) => key.split("/")[1]), last };
  };

  it("survives a power cut, well or badly, in a place of its own; its result stands before it", async () => {
    const well = await ended("done");
    expect(well).toMatchObject({ kept: ["power"], types: ["run-result", "run-complete"], places: ["result", "terminal"] });
    expect(well.last.at(-2)?.data).toEqual({ reason: "complete", text: "done" });
    expect(await ended({ error: { kind: "billing" } })).toMatchObject({
      kept: ["power"],
      types: ["turn-end", "error"],
      places: ["t1", "terminal"],
    });
  });
});

describe("a run that ends while calls are open", () => {
  it("gives them results: with the reason of its end, and as not started where they were not", async () => {
    const log = createMemoryEventLog();
    const look = recordingTool("look", { effect: "read" });
    const { agent } = agentOf([calling("look", "look"), "never"], [look], {
      rules: [ruleBefore("execute-tool", "r", 0, () => ({ type: "halt", reason: "enough" }))],
    });
    const { outcome, events } = await watch(runnerOf(agent, { log }).run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "rule", reason: "enough" } });
    expect(ofType(events, "tool-result").map(({ name, output, isError, durationMs }) => ({ name, output, isError, durationMs }))).toEqual(
      Array.from({ length: 2 }, () => ({ name: "look", output: "Not finished: the run ended (halted).", isError: true, durationMs: 0 })),
    );
    expect(types(events).slice(-4)).toEqual(["tool-calls-complete", "turn-end", "run-result", "run-complete"]);
    const keys: string[] = [];
    for await (const { key } of log.read(sessionLog("s" as SessionId))) keys.push(key);
    expect(keys.filter((key) => key.indexOf("/") === key.length - 1)).toEqual([]);
  });

  it("closes no calls where none were open", async () => {
    const { agent } = agentOf(["never"], [], {
      rules: [ruleAfter("infer", "r", 0, () => ({ type: "halt", reason: "enough" }))],
    });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(types(events)).not.toContain("tool-calls-complete");
    expect(ofType(events, "turn-end")).toHaveLength(1);
  });

  it("goes by the reason of a hook that aborts it, with the results of what ran", async () => {
    const hooks = createHookRegistry().onPostToolUse("*", () => ({ type: "abort", reason: "seen enough" }));
    const look = recordingTool("look", { effect: "read", concurrency: "exclusive" });
    const { agent } = agentOf([calling("look", "look"), "never"], [look], { hooks });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("halted");
    expect(ofType(events, "tool-result").map(({ output }) => output)).toEqual(["look done", "Not finished: the run ended (halted)."]);
  });
});
