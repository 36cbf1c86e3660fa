import type { ApprovalRequest, Decision, PermissionMode, PermissionRule } from "@keelson/protocol";
import { createAgent, createRunner, defineTool, textMessage, type Agent, type Tool } from "keelson";
import { defineEffectTool, handoffTool, reactLoop } from "keelson/agent";
import { Context } from "keelson/context";
import { createLocalOrchestrator } from "keelson/orchestration";
import { explainCall } from "keelson/security";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { operatorToTool, toolToOperator } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { growingSource } from "./growing-source.ts";
import { heldClock } from "./held-clock.ts";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

type Need = NonNullable<Parameters<typeof defineTool<{ readonly euros: number }>>[0]["needsApproval"]>;

/** A tool that pays, and the amounts that it paid. */
function paying(needsApproval: Need, fields: Partial<Parameters<typeof defineTool>[0]> = {}) {
  const paid: number[] = [];
  const pay = defineTool<{ readonly euros: number }>({
    name: "pay",
    description: "Pays.",
    input: { type: "object", properties: { euros: { type: "number" } } } as never,
    ...(fields as object),
    needsApproval,
    execute: ({ euros }) => (paid.push(euros), "paid"),
  });
  return { pay, paid };
}
const pays = (euros: number): ScriptedTurn => ({ toolCalls: [{ name: "pay", input: { euros } }] });

interface WorkOptions {
  readonly amounts?: readonly number[];
  readonly decide?: (request: ApprovalRequest) => Decision | undefined;
  readonly rules?: readonly PermissionRule[];
  readonly mode?: PermissionMode;
  readonly fields?: Partial<Parameters<typeof defineTool>[0]>;
}

/** Pays each amount in a turn of its own, and says what was asked and paid. */
async function work(needsApproval: Need, { amounts = [5], decide, rules = [], mode = "default", fields = {} }: WorkOptions = {}) {
  const { pay, paid } = paying(needsApproval, fields);
  const model = scriptedModel([...amounts.map(pays), "done"]);
  const agent = createAgent({ name: "payer", model, tools: [pay], permissions: { rules, mode }, loopGuard: false });
  const asked: ApprovalRequest[] = [];
  const runner = createRunner({ agent, approvals: (request) => (asked.push(request), decide?.(request) ?? { type: "deny" }) });
  const { outcome, events } = await watch(runner.run("Pay."));
  const results = ofType(events, "tool-result").map(({ output }) => output);
  return { asked, reasons: asked.map(({ reason }) => reason), paid, outcome, results };
}

describe("needsApproval of a tool", () => {
  it("has a person asked about each call if it is true, although the tool is of low risk", async () => {
    const { asked, paid } = await work(true, { decide: () => ({ type: "allow" }) });
    expect(asked).toMatchObject([
      { operation: "pay", input: { euros: 5 }, reason: "The tool pay needs a person's approval for each call." },
    ]);
    expect(paid).toEqual([5]);
  });

  it("asks about the calls for which its function returns true, with the arguments as the schema gives them and the place of the call", async () => {
    const seen: unknown[] = [];
    const { asked, paid } = await work(
      async ({ euros }, { agent, callId, session, runId, signal }) => {
        seen.push([euros, agent, typeof callId, typeof session, typeof runId, signal.aborted]);
        return euros > 10;
      },
      { amounts: [5, 50], decide: () => ({ type: "deny" }) },
    );
    expect(asked.map(({ input }) => input)).toEqual([{ euros: 50 }]);
    expect(paid).toEqual([5]);
    expect(seen).toEqual([
      [5, "payer", "string", "string", "string", false],
      [50, "payer", "string", "string", "string", false],
    ]);
  });

  it("is not lifted by allow rules, neither about the tool nor about exactly this call", async () => {
    for (const pattern of ["pay", "*", 'pay({"euros":5})']) {
      const { asked, paid } = await work(true, { rules: [{ pattern, behavior: "allow" }] });
      expect([asked.length, paid], pattern).toEqual([1, []]);
    }
  });

  it("yields to a deny rule, and its function is not called then", async () => {
    let calls = 0;
    const { asked, results } = await work(() => (calls++, true), { rules: [{ pattern: "pay", behavior: "deny" }] });
    expect([asked, calls]).toEqual([[], 0]);
    expect(String(results[0])).toMatch(/^Not permitted: The permission rule "pay" denies it/);
  });

  it("is skipped in the mode bypass-all", async () => {
    let calls = 0;
    const { asked, paid } = await work(() => (calls++, true), { mode: "bypass-all" });
    expect([asked, paid, calls]).toEqual([[], [5], 0]);
  });

  it("denies the call in the mode deny-unauthorized, where nobody is asked, and lets calls run that need no approval", async () => {
    const rules: readonly PermissionRule[] = [{ pattern: "pay", behavior: "allow" }];
    const options = { mode: "deny-unauthorized", rules, amounts: [5, 50] } as const;
    const { asked, paid, results } = await work(({ euros }) => euros > 10, options);
    expect([asked, paid]).toEqual([[], [5]]);
    expect(String(results[1])).toMatch(/needs a person's approval.*deny-unauthorized nobody is asked/);
  });

  it("is denied with other writes in the mode plan-only, and asks about reads", async () => {
    expect(await work(true, { mode: "plan-only" })).toMatchObject({ asked: [], paid: [] });
    const read = await work(true, { mode: "plan-only", fields: { effect: "read" }, decide: () => ({ type: "allow" }) });
    expect([read.asked.length, read.paid]).toEqual([1, [5]]);
  });

  it("ends for the scope that an allow-always names: this call, or the tool", async () => {
    const exact = await work(true, { amounts: [5, 5, 6], decide: () => ({ type: "allow-always" }) });
    expect(exact.asked.map(({ input }) => input)).toEqual([{ euros: 5 }, { euros: 6 }]);
    expect(exact.asked[0]?.always).toEqual([
      { scope: "exact", rules: ['pay({"euros":5})'] },
      { scope: "tool", rules: ["pay"] },
    ]);
    const decide = ({ always = [] }: ApprovalRequest): Decision => ({ type: "allow-always", rules: always.at(-1)?.rules ?? [] });
    const tool = await work(true, { amounts: [5, 6, 7], decide });
    expect([tool.asked.length, tool.paid]).toEqual([1, [5, 6, 7]]);
  });

  it("is not ended by what a person allowed for another tool", async () => {
    const { pay } = paying(true, { effectsOf: () => ({ writes: ["a.txt"] }) });
    const edit = defineTool({
      name: "edit_file",
      description: "Edits.",
      risk: "high",
      input: { type: "object" },
      effectsOf: () => ({ writes: ["a.txt"] }),
      execute: () => "edited",
    });
    const model = scriptedModel([{ toolCalls: [{ name: "edit_file" }] }, pays(5), "done"]);
    const asked: string[] = [];
    const runner = createRunner({
      agent: createAgent({ name: "a", model, tools: [pay, edit] }),
      approvals: ({ operation }) => (asked.push(operation), { type: "allow-always", rules: [`edit_file(a.txt)`] }),
    });
    await runner.run("go").outcome;
    expect(asked).toEqual(["edit_file", "pay"]);
  });

  it("adds its reason to another question about the same call, and offers only what answers both", async () => {
    const { reasons, asked } = await work(true, { fields: { effectsOf: () => ({ reads: [".env"] }) } });
    expect(reasons).toEqual([expect.stringMatching(/^The tool pay needs a person's approval.* It is sensitive: it reads/)]);
    expect(asked[0]?.always?.map(({ scope }) => scope)).toEqual(["exact"]);
    const high = await work(true, { fields: { risk: "high" } });
    expect(high.reasons).toHaveLength(1);
    const rule = await work(true, { rules: [{ pattern: "pay", behavior: "ask" }] });
    expect([rule.reasons.length, rule.asked[0]?.always]).toEqual([1, undefined]);
  });

  it("asks, and says why, if its function throws, rejects, returns no boolean or takes too long", async () => {
    const reasonOf = async (need: Need): Promise<string | undefined> => {
      const { reasons, paid } = await work(need);
      expect(paid).toEqual([]);
      return reasons[0];
    };
    expect(
      await reasonOf(() => {
        throw new Error("no ledger");
      }),
    ).toBe("The needsApproval of pay failed, so this call is asked about: no ledger");
    expect(await reasonOf(() => Promise.reject(new Error("no ledger")))).toMatch(/failed, so this call is asked about: no ledger/);
    expect(await reasonOf((() => undefined) as never)).toMatch(/returned undefined and not true or false/);
    expect(await reasonOf((() => "no") as never)).toMatch(/returned "no" and not true or false/);

    const { pay } = paying(() => new Promise<boolean>(() => {}));
    const agent = createAgent({ name: "a", model: scriptedModel([pays(5), "done"]), tools: [pay] });
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.waits).toMatchObject([{ reason: expect.stringMatching(/failed.*longer than 30000 ms/) }]);
  });

  it("does not hold up a run that is aborted while its function works", async () => {
    let began = (): void => {};
    const begun = new Promise<void>((resolve) => (began = resolve));
    const { pay, paid } = paying(() => (began(), new Promise<boolean>(() => {})));
    const agent = createAgent({ name: "a", model: scriptedModel([pays(5), "done"]), tools: [pay] });
    const run = createRunner({ agent, clock: heldClock() }).run("go");
    await begun;
    await run.abort();
    expect([(await run.outcome).reason, paid]).toEqual(["aborted", []]);
  });

  it("is answered once: a resume, an advance in another process and a rehearsal read the recorded answer", async () => {
    let calls = 0;
    const services = sharedServices();
    const { pay, paid } = paying(async () => (calls++, true));
    const agent = (): Agent<undefined> => createAgent({ name: "a", model: scriptedModel([pays(5), "done"]), tools: [pay] });
    const first = await createRunner({ ...services, agent: agent() }).run("go", { session: "s" }).outcome;
    expect([first.reason, calls]).toEqual(["awaiting-approval", 1]);
    const runner = createRunner({ ...services, agent: createAgent({ name: "a", model: scriptedModel(["done"]), tools: [pay] }) });
    for await (const found of runner.rehearse()) expect(found).toMatchObject({ verdict: "waits", isSafe: true });
    const [question] = await runner.approvals.list();
    await runner.approve(question?.token ?? "", { type: "allow" });
    await runner.advance("s");
    expect([paid, calls]).toEqual([[5], 1]);
  });

  it("is asked again about arguments that an approver edited, who answered for them", async () => {
    const seen: number[] = [];
    const { asked, paid } = await work(({ euros }) => (seen.push(euros), true), {
      decide: () => ({ type: "allow-modified", input: { euros: 4 } }),
    });
    expect([asked.length, paid, seen]).toEqual([1, [4], [5, 4]]);
  });

  it("belongs to the digest of an agent, by the name of its function, and leaves definitions without it as they were", () => {
    const digest = (tool: Tool): string => createAgent({ name: "a", model: scriptedModel([]), tools: [tool] }).digest;
    const plain = digest(paying(false).pay);
    const large = ({ euros }: { readonly euros: number }): boolean => euros > 10;
    const named = [true as const, large, () => true].map((need) => digest(paying(need).pay));
    expect(new Set([plain, ...named]).size).toBe(4);
    expect(digest(paying(large).pay)).toBe(named[1]);
    const { needsApproval: _none, ...without } = paying(true).pay;
    expect(digest(without)).toBe(plain);
  });

  it("is refused if it is neither a boolean nor a function", () => {
    for (const needsApproval of ["always", 1, null, {}])
      expect(() => paying(needsApproval as never), String(needsApproval)).toThrow(
        /Tool "pay": `needsApproval` must be true, false or a function/,
      );
  });
});

describe("needsApproval elsewhere", () => {
  it("has the person at the parent asked about the call of a child", async () => {
    const { pay, paid } = paying(true);
    const child = createAgent({ name: "child", model: scriptedModel([pays(7), "paid"]), tools: [pay] });
    const parent = createAgent({
      name: "parent",
      model: scriptedModel([{ toolCalls: [{ name: "child", input: { task: "pay" } }] }, "done"]),
      agents: { child },
    });
    const services = sharedServices();
    const { waits = [] } = await createRunner({ ...services, agent: parent }).run("go", { session: "s" }).outcome;
    expect(waits).toMatchObject([{ type: "approval", operation: "pay", input: { euros: 7 } }]);
    const runner = createRunner({ ...services, agent: parent });
    for (const wait of waits) if (wait.type === "approval") await runner.approve(wait.token, { type: "allow" });
    expect([(await (await runner.resume("s")).outcome).reason, paid]).toEqual(["complete", [7]]);
  });

  it("holds for tools of a source", async () => {
    const { pay, paid } = paying(({ euros }) => euros > 10);
    const services = sharedServices();
    const model = scriptedModel([pays(5), pays(50), "done"]);
    const agent = createAgent({ name: "a", model, toolSources: [growingSource([pay])] });
    const { waits } = await runnerOf(agent, services).run("go", { session: "s" }).outcome;
    expect([waits?.length, paid]).toEqual([1, [5]]);
    for await (const found of runnerOf(agent, services).rehearse()) expect(found).toMatchObject({ verdict: "waits", isSafe: true });
  });

  it("holds before an agent, an operator, a handoff and an effect", async () => {
    const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
    const asking: readonly [string, Tool][] = [
      ["helper", helper.asTool({ needsApproval: ({ task }) => task === "t" })],
      ["dispatch", operatorToTool({ name: "dispatch", description: "", operator: "helper", needsApproval: true })],
      ["leave", handoffTool(helper, { name: "leave", needsApproval: true })],
      [
        "keep",
        defineEffectTool({
          name: "keep",
          description: "",
          input: { type: "object" },
          needsApproval: true,
          effect: () => ({ type: "write-memory", scope: { type: "global" }, key: "k", value: 1 }),
        }),
      ],
    ];
    for (const [name, tool] of asking) {
      const model = scriptedModel([{ toolCalls: [{ name, input: { task: "t" } }] }, "done"]);
      const runner = createRunner({ agents: { a: createAgent({ name: "a", model, tools: [tool] }), helper } });
      const { reason, waits } = await runner.run("go", { agent: "a" }).outcome;
      expect([reason, waits], name).toMatchObject(["awaiting-approval", [{ operation: name }]]);
    }
  });

  it("fails a call where nobody can be asked: in reactLoop and in an operator made of a tool", async () => {
    const { pay, paid } = paying(({ euros }) => euros > 10);
    const context = new Context();
    await context.injectMessage(textMessage("user", "go"));
    await reactLoop({ context, provider: scriptedModel([pays(5), pays(50), "done"]), tools: [pay] });
    expect(paid).toEqual([5]);
    expect(JSON.stringify(context.messages)).toMatch(/needs a person's approval for this call\. Nobody can be asked here/);

    const orchestrator = createLocalOrchestrator({ operators: { pay: toolToOperator(pay) } });
    const dispatched = orchestrator.dispatch("pay", { message: [], trigger: "task", metadata: { input: { euros: 50 } } });
    await expect(dispatched).rejects.toThrow(/needs a person's approval for this call\. Nobody can be asked here/);
    expect(paid).toEqual([5]);
  });

  it("is part of what explainCall says", async () => {
    const { pay } = paying(({ euros }) => euros > 10);
    const explain = (euros: number) => explainCall({ tool: pay, input: { euros }, policies: [{ mode: "default", rules: [] }] });
    expect((await explain(5)).decision.behavior).toBe("allow");
    expect((await explain(50)).decision).toMatchObject({ behavior: "ask", reason: expect.stringMatching(/needs a person's approval/) });
  });
});
