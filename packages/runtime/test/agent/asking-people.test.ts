import { createAgent, createRunner } from "keelson";
import { createHookRegistry, fsmStrategy } from "keelson/agent";
import type { Clock } from "keelson/session";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { Rule } from "keelson/context";
import type { Approver, Wait } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const DAY_MS = 24 * 3_600_000;
const deploy: ScriptedTurn = { toolCalls: [{ name: "deploy", input: { to: "staging" } }] };
/** A clock that stands still: nobody's patience ends. */
const still: Clock = { now: () => 1_000_000, after: () => () => {} };

function deployer(options: Partial<Parameters<typeof createAgent>[0]> = {}) {
  const tool = recordingTool("deploy", { effect: "write", risk: "high" });
  return { tool, agent: createAgent({ name: "a", model: scriptedModel([deploy, "done"]), tools: [tool], ...options }) };
}

describe("the callback that decides for people", () => {
  it("ends the run as a panic that says what it answered, or what it threw", async () => {
    const cases: readonly (readonly [() => unknown, string])[] = [
      [
        () => ({ type: "perhaps" }),
        'the approvals callback answered {"type":"perhaps"}: answer with a decision such as { type: "allow" }, or undefined',
      ],
      [() => "yes", 'the approvals callback answered "yes": answer with a decision such as { type: "allow" }, or undefined'],
      [() => Promise.reject(new Error("no idea")), "the approvals callback threw: no idea"],
    ];
    for (const [answer, message] of cases) {
      const { agent, tool } = deployer();
      const { error } = await runnerOf(agent, { approvals: answer as Approver }).run("go").outcome;
      expect(error?.failure).toEqual({ kind: "panic", callback: "approvals", message });
      expect(tool.calls).toEqual([]);
    }
  });

  it("leaves the question open where it has no answer, and the run suspends without waiting for its patience to end", async () => {
    for (const nothing of [undefined, null]) {
      const { agent } = deployer();
      const outcome = await runnerOf(agent, { clock: still, approvals: () => nothing as undefined }).run("go").outcome;
      expect(outcome.reason).toBe("awaiting-approval");
    }
  });

  it("is waited for only so long", async () => {
    const clock = impatientClock();
    const { agent } = deployer();
    const approvals: Approver = () => new Promise(() => {});
    const { outcome } = await watch(runnerOf(agent, { clock, approvals, approvalWaitMs: 4321 }).run("go"));
    expect(outcome.reason).toBe("awaiting-approval");
    expect(clock.waits).toContain(4321);
  });

  it("is left alone when the run is told to end, and told so by its signal", async () => {
    for (const [how, reason] of [
      ["abort", "aborted"],
      ["stop", "stopped"],
      ["signal", "aborted"],
    ] as const) {
      const { agent, tool } = deployer();
      const caller = new AbortController();
      let seen: AbortSignal | undefined;
      let asked = (): void => {};
      const wasAsked = new Promise<void>((resolve) => (asked = resolve));
      const run = runnerOf(agent, {
        clock: still,
        approvals: (_request, { signal }) => {
          seen = signal;
          asked();
          return new Promise(() => {});
        },
      }).run("go", { signal: caller.signal });
      await wasAsked;
      // It waits in peace meanwhile: others get their turn.
      await new Promise((resolve) => setImmediate(resolve));
      if (how === "signal") caller.abort();
      else await run[how]();
      expect((await run.outcome).reason).toBe(reason);
      expect(seen?.aborted).toBe(how !== "stop");
      expect(tool.calls).toEqual([]);
    }
  });
});

it("a question that nobody answers ends with its run, at its deadline", async () => {
  const { agent } = deployer({ limits: { maxDurationMs: 20 } });
  const runner = createRunner({ agent, approvals: () => new Promise(() => {}), approvalWaitMs: DAY_MS });
  expect((await runner.run("go").outcome).reason).toBe("timeout");
});

it("a question leaves no timer behind once it is answered", async () => {
  const timers = new Set<object>();
  const waiting = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => 1_000_000,
    after(ms) {
      const timer = { ms };
      timers.add(timer);
      if (ms === 4321) waiting.resolve();
      return () => void timers.delete(timer);
    },
  };
  const seen: number[] = [];
  const { agent, tool } = deployer();
  const approvals: Approver = async () => {
    await waiting.promise;
    seen.push(...[...timers].map((timer) => (timer as { readonly ms: number }).ms));
    return { type: "allow" };
  };
  expect((await runnerOf(agent, { clock, approvals, approvalWaitMs: 4321 }).run("go").outcome).reason).toBe("complete");
  expect(tool.calls).toHaveLength(1);
  expect(seen).toContain(4321);
  expect([...timers]).not.toContainEqual({ ms: 4321 });
});

describe("a question", () => {
  it("gets another token each time that nobody used the last one in its time, and keeps it until then", async () => {
    const shared = { ...sharedServices(), approvalTtlMs: DAY_MS };
    const runner = createRunner({ ...shared, agent: deployer().agent });
    const tokens: string[] = [];
    const note = (waits: readonly unknown[] | undefined): void => void tokens.push((waits?.[0] as { readonly token: string }).token);
    note((await runner.run("go", { session: "s" }).outcome).waits);
    for (const later of [1, DAY_MS + 1, 1, DAY_MS + 1]) {
      shared.clock.advance(later);
      note((await (await runner.resume("s")).outcome).waits);
    }
    const [first, second, third] = [tokens[0], tokens[2], tokens[4]];
    expect(tokens).toEqual([first, first, second, second, third]);
    expect(new Set([first, second, third]).size).toBe(3);
    await runner.approve(third ?? "", { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
  });

  it("that was answered is not asked again beside one that was not", async () => {
    const shared = { ...sharedServices(), approvalTtlMs: DAY_MS };
    const two: ScriptedTurn = { toolCalls: ["one", "two"].map((to) => ({ name: "deploy", input: { to } })) };
    const runner = createRunner({ ...shared, agent: deployer({ model: scriptedModel([two, "done"]) }).agent });
    const asked: unknown[] = [];
    const note = async (run: ReturnType<typeof runner.run>): Promise<readonly Wait[]> => {
      const { events, outcome } = await watch(run);
      asked.push(ofType(events, "approval-request").map(({ input }) => (input as { readonly to: string }).to));
      return outcome.waits ?? [];
    };
    const [first] = await note(runner.run("go", { session: "s" }));
    await runner.approve((first as { readonly token: string }).token, { type: "allow" });
    expect(await note(await runner.resume("s"))).toHaveLength(1);
    shared.clock.advance(9 * DAY_MS);
    expect(await note(await runner.resume("s"))).toHaveLength(1);
    expect(asked).toEqual([["one", "two"], [], ["two"]]);
  });

  it("that was answered in time stays answered, however late the run goes on", async () => {
    const shared = { ...sharedServices(), approvalTtlMs: DAY_MS };
    const { agent, tool } = deployer();
    const runner = createRunner({ ...shared, agent });
    const { waits } = await runner.run("go", { session: "s" }).outcome;
    await runner.approve((waits?.[0] as { readonly token: string }).token, { type: "allow" });
    shared.clock.advance(9 * DAY_MS);
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(tool.calls).toHaveLength(1);
  });
});

describe("the gates", () => {
  it("name themselves to who debugs them, in their order, a strategy's and hooks included", async () => {
    const hooks = createHookRegistry().onPreToolUse("deploy", () => ({ type: "abort", reason: "not on Fridays" }));
    const strategy = fsmStrategy().initial("free").tools("deploy").build();
    const { agent } = deployer({ debug: true, hooks, strategy, permissions: { mode: "bypass-all" } });
    const { events } = await watch(runnerOf(agent).run("go"));
    const said = ofType(events, "status").flatMap(({ status }) => /gate ("[^"]+"): (\w+)/.exec(status)?.slice(1).join(" ") ?? []);
    expect(said).toEqual([
      '"find" passed',
      '"parse and validate" passed',
      '"transform" passed',
      '"strategy" passed',
      '"permission" passed',
      '"loop guard" passed',
      '"tool-call limit" passed',
      '"pre-tool-use hooks" refused',
    ]);
  });

  it("are all passed, also behind one that waits for something", async () => {
    const { agent, tool } = deployer({
      rules: [{ name: "slow", trigger: { type: "before", operation: "execute-tool" }, run: async () => undefined }],
      permissions: { rules: [{ pattern: "deploy", behavior: "deny" }] },
    });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "tool-result")).toMatchObject([{ isError: true, output: expect.stringMatching(/^Not permitted: /) }]);
    expect(tool.calls).toEqual([]);
  });

  it("tell who debugs them what rules answered and why they would ask", async () => {
    const rule: Rule = {
      name: "answer",
      trigger: { type: "before", operation: "execute-tool" },
      run: ({ input }) =>
        (input as { readonly input: { readonly to: string } }).input.to === "test"
          ? { type: "skip", output: { skipped: true } as never }
          : undefined,
    };
    const tool = recordingTool("deploy", { effect: "write", risk: "high" });
    const turn: ScriptedTurn = {
      toolCalls: [
        { name: "deploy", input: { to: "test" } },
        { name: "deploy", input: { to: "live" } },
      ],
    };
    const agent = createAgent({ name: "a", model: scriptedModel([turn, "done"]), tools: [tool], rules: [rule], debug: true });
    const { events } = await watch(runnerOf(agent, { approvals: () => ({ type: "deny" }) }).run("go"));
    const said = ofType(events, "status")
      .map(({ status }) => status.replaceAll(/c_\w+/g, "c"))
      .filter((status) => /gate "(transform|permission)"/.test(status));
    expect(said).toEqual([
      'deploy c, gate "transform": answered: {"skipped":true}',
      'deploy c, gate "transform": passed',
      expect.stringMatching(/^deploy c, gate "permission": asks: ./),
    ]);
  });

  it("show rules the tool by its own name, whatever the model called it", async () => {
    const names: unknown[] = [];
    const tool = Object.assign(recordingTool("deploy", { effect: "read" }), { aliases: ["release"] });
    const rule: Rule = {
      name: "look",
      trigger: { type: "before", operation: "execute-tool" },
      run: ({ input }) => void names.push((input as { readonly name: string }).name),
    };
    const model = scriptedModel([{ toolCalls: [{ name: "release", input: {} }] }, "done"]);
    await runnerOf(createAgent({ name: "a", model, tools: [tool], rules: [rule] })).run("go").outcome;
    expect(names).toEqual(["deploy"]);
    expect(tool.calls).toHaveLength(1);
  });
});
