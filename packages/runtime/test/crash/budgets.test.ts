import { type BudgetLedger, type EventLog, type SessionId, sessionLog, type Tool, type Usd, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import type { Agent } from "../../src/agent/definition/agent.ts";
import { agentTool, createAgent, defineTool } from "../../src/index.ts";
import { createMemoryBudgetLedger } from "../../src/state/index.ts";
import { scriptedModel, type ScriptedModel } from "../../src/testing/scripted-model.ts";
import { faultsOf } from "./normalised-log.ts";
import { sample } from "./sample.ts";
import { openRunner, SESSION, type ScenarioServices } from "./scenario.ts";
import { simulateLives } from "./simulated-lives.ts";

const TEAM = { id: "team", maxCost: "100", maxTokens: 10_000_000, maxTurns: 100, maxToolCalls: 100, maxModelCalls: 100 } as const;

/** Asks a helper, acts, and responds: five turns of two agents, of which each costs a little. */
function openFamily(services: ScenarioServices, ledger: BudgetLedger): ReturnType<typeof openRunner> {
  const agents = (): Agent<undefined> => {
    const helper = createAgent({
      name: "helper",
      model: priced(services, "scripted/helper", [{ toolCalls: [{ name: "mark", input: {} }] }, { text: "helped" }]),
      tools: [acting(services, "mark")],
      limits: { maxCost: "50" },
    });
    return createAgent({
      name: "lead",
      model: priced(services, "scripted/lead", [
        { toolCalls: [{ name: "helper", input: { task: "help" } }] },
        { toolCalls: [{ name: "post", input: {} }] },
        { text: "done" },
      ]),
      tools: [acting(services, "post"), agentTool(helper)],
      limits: { maxCost: "0.001", maxTokens: 900_000, budgetThresholds: [0.001, 0.005, 1] },
    });
  };
  return openRunner({ ...services, ledger }, agents, undefined, { budgets: [TEAM] });
}

function acting({ points, effects }: ScenarioServices, name: string): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect: "idempotent",
    input: { type: "object" },
    async execute(_input, { idempotencyKey, attempt }) {
      await points.pass(`${name}/before`);
      effects.write({ tool: name, key: idempotencyKey, attempt });
      await points.pass(`${name}/after`);
      return "done";
    },
  }) as Tool;
}

function priced({ points }: ScenarioServices, name: string, responses: readonly object[]): ScriptedModel {
  const turn = async (request: { readonly messages: readonly { readonly role: string }[] }): Promise<object> => {
    await points.pass("inferring");
    const response = responses[request.messages.filter(({ role }) => role === "assistant").length] as object;
    await points.pass("inferred");
    return { ...response, usage: { inputTokens: 10, outputTokens: 7 } };
  };
  return scriptedModel(
    Array.from({ length: 50 }, () => turn),
    { name, price: { input: "0.1", output: "0.1", asOf: "2026-01-01" } },
  );
}

interface Account {
  readonly cost: Usd | null;
  readonly least: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly modelCalls: number;
  readonly told: readonly string[];
}

/** What the logs of a session and of its children say was used. */
async function accountIn(log: EventLog, session: string): Promise<Account> {
  const sum = { cost: null as Usd | null, least: 0, turns: 0, toolCalls: 0, modelCalls: 0, told: [] as string[] };
  for await (const { type, data } of log.read(sessionLog(session as SessionId))) {
    if (type === "turn-start") sum.turns++;
    if (type === "inference") sum.modelCalls++;
    if (type === "tool-result" && data["executed"] !== undefined) sum.toolCalls++;
    if (type === "usage" && data["estimated"] === undefined) sum.least += Number(data["cost"]);
    if (type === "budget")
      sum.told.push([session === SESSION ? "lead" : "helper", data["limit"], data["threshold"], data["scope"]].join(" "));
    if (type === "run-complete") sum.cost = data["cost"] as Usd;
    if (type === "child-start") {
      const below = await accountIn(log, data["session"] as string);
      sum.least += below.least;
      sum.turns += below.turns;
      sum.toolCalls += below.toolCalls;
      sum.modelCalls += below.modelCalls;
      sum.told.push(...below.told);
    }
  }
  return sum;
}

async function places(): Promise<readonly string[]> {
  const lives = simulateLives({ open: (scenario) => openFamily(scenario, createMemoryBudgetLedger()) });
  const { passed, finished } = await lives.live();
  expect(finished?.outcome).toMatchObject({ reason: "complete", cost: "0.0000085" });
  return passed;
}

describe("a budget", () => {
  it.each([
    ["that dies with its process is told all that was used", true],
    ["that outlives the process presumes what the dead left open, and counts nothing twice", false],
  ] as const)(
    "%s, wherever a life ends",
    async (_title, diesToo) => {
      const all = await places();
      const faults: string[] = [];
      for (const place of sample(
        all,
        sampleSize(`places to die under a budget, ${all.length} of them`, { test: 100, ci: 200, soak: 2000 }),
      )) {
        let life = 0;
        const open = (): BudgetLedger => createMemoryBudgetLedger({ isDeadOwner: (owner) => owner !== `life-${life}` });
        let ledger = open();
        const lives = simulateLives({
          open(scenario) {
            life++;
            if (diesToo) ledger = open();
            return openFamily(scenario, ledger);
          },
        });
        await lives.live(place);
        // What is over tells nobody any more what it used.
        if (diesToo && (await isOver(lives.log))) continue;
        const { finished } = await lives.live();
        const said = await accountIn(lives.log, SESSION);
        const used = await ledger.used("team");
        if (finished?.outcome.reason !== "complete") faults.push(`${place}: it ended with ${finished?.outcome.reason}`);
        const counted = { turns: used.turns, toolCalls: used.toolCalls, modelCalls: used.modelCalls };
        const logged = { turns: said.turns, toolCalls: said.toolCalls, modelCalls: said.modelCalls };
        if (JSON.stringify(counted) !== JSON.stringify(logged))
          faults.push(`${place}: counted ${JSON.stringify(counted)}, the log says ${JSON.stringify(logged)}`);
        // What an inference cost that settled without getting into the log, only the ledger knows; the log says the worst case.
        const isKept = diesToo
          ? used.cost === said.cost
          : Number(used.cost) <= Number(said.cost) && Number(used.cost) >= said.least - 1e-12;
        if (!isKept) faults.push(`${place}: $${used.cost} is spent on the ledger, $${String(said.cost)} in the log`);
        if (new Set(said.told).size !== said.told.length) faults.push(`${place}: told twice: ${said.told.join(", ")}`);
        const [own] = [...(await ownScopes(lives.log))];
        if ((await ledger.used(own as string)).cost !== used.cost) faults.push(`${place}: the run's own budget is at another amount`);
        // Nothing is held any more: all of what is left can be had.
        const rest = usd((100 - Number(used.cost)).toFixed(9));
        const { type } = await ledger.reserve("rest", [{ id: "team", maxCost: usd("100") }], rest, { owner: `life-${life}` });
        if (type !== "reserved") faults.push(`${place}: something is held for ever: ${type}`);
        faults.push(...(await faultsOf(lives.log, SESSION)).map((fault) => `${place}: ${fault}`));
      }
      expect(faults).toEqual([]);
    },
    300_000,
  );
});

async function ownScopes(log: EventLog): Promise<readonly string[]> {
  for await (const { type, key } of log.read(sessionLog(SESSION as SessionId)))
    if (type === "run-start") return [`run/${key.slice(0, key.indexOf("/"))}`];
  return [];
}

async function isOver(log: EventLog): Promise<boolean> {
  for await (const { type } of log.read(sessionLog(SESSION as SessionId))) if (type === "run-complete") return true;
  return false;
}
