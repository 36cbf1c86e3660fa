import { agentTool, createAgent } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import { call, oneAgent, task, team } from "./one-agent.ts";

const about = "budgets";
/** A tenth of a cent for each token of output, nothing for input. */
const price = { input: "0", output: "1000", asOf: "2026-01-01" };
const usage = { outputTokens: 100 };

export const BUDGETS: readonly EngineScenario[] = [
  oneAgent({
    name: "spends-all-its-money",
    about,
    options: (kit) => ({
      model: kit.model(
        Array.from({ length: 9 }, (_, n) => ({ ...call("send", { n }), usage })),
        { price },
      ),
      settings: { maxTokens: 100 },
      limits: { maxCost: "0.35", budgetThresholds: [0.5] },
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "budget-exhausted" },
    writes: { send: 3 },
  }),
  oneAgent({
    name: "is-allowed-more-money",
    about,
    options: (kit) => ({
      model: kit.model(
        Array.from({ length: 5 }, (_, n) => ({ ...(n === 4 ? { text: "All is sent." } : call("send", { n })), usage })),
        { price },
      ),
      settings: { maxTokens: 100 },
      limits: { maxCost: "0.25", onBudget: "ask", budgetThresholds: [0.5] },
      tools: [kit.tool("send", "write")],
    }),
    acts: [
      { type: "decide", tool: "budget", decision: { type: "allow-modified", input: { usd: "0.1" } } },
      { type: "decide", tool: "budget", decision: { type: "allow", by: "ann" } },
    ],
    ends: { reason: "complete", text: "All is sent." },
    writes: { send: 4 },
  }),
  oneAgent({
    name: "is-denied-more-money",
    about,
    options: (kit) => ({
      model: kit.model(
        Array.from({ length: 5 }, (_, n) => ({ ...call("send", { n }), usage })),
        { price },
      ),
      settings: { maxTokens: 100 },
      limits: { maxCost: "0.25", onBudget: "ask" },
      tools: [kit.tool("send", "write")],
    }),
    acts: [{ type: "decide", tool: "budget", decision: { type: "deny", reason: "enough" } }],
    ends: { reason: "budget-exhausted" },
    writes: { send: 2 },
  }),
  team({
    name: "has-a-child-that-is-allowed-more-money",
    about,
    agents(kit) {
      const helper = createAgent({
        name: `${this.name}-helper`,
        model: kit.model(
          Array.from({ length: 4 }, (_, n) => ({ ...(n === 3 ? { text: "It is dug." } : call("dig", { n })), usage })),
          { price },
        ),
        settings: { maxTokens: 100 },
        limits: { maxCost: "0.25", onBudget: "ask" },
        tools: [kit.tool("dig", "write")],
      });
      const boss = createAgent({
        name: this.name,
        model: kit.model(
          [
            { ...task(helper.name), usage },
            { text: "All is dug.", usage },
          ],
          { price },
        ),
        settings: { maxTokens: 100 },
        limits: { maxCost: "1" },
        tools: [agentTool(helper)],
      });
      return [boss];
    },
    acts: [{ type: "decide", tool: "budget", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "All is dug." },
    writes: { dig: 3 },
  }),
  oneAgent({
    name: "spends-all-its-tokens",
    about,
    options: (kit) => ({
      model: kit.model(Array.from({ length: 9 }, (_, n) => ({ ...call("send", { n }), usage: { inputTokens: 1000, outputTokens: 1000 } }))),
      settings: { maxTokens: 1000 },
      limits: { maxTokens: 6000 },
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "budget-exhausted" },
    writes: { send: 3 },
  }),
  oneAgent({
    name: "spends-all-its-calls",
    about,
    options: (kit) => ({
      model: kit.model([call("send", { n: 1 }), call("send", { n: 2 }), "Only one was sent."]),
      limits: { maxToolCalls: 1 },
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "complete", text: "Only one was sent." },
    writes: { send: 1 },
  }),
  team({
    name: "shares-its-money-with-a-child",
    about,
    agents(kit) {
      const helper = createAgent({
        name: `${this.name}-helper`,
        model: kit.model(
          Array.from({ length: 9 }, (_, n) => ({ ...call("dig", { n }), usage })),
          { price },
        ),
        settings: { maxTokens: 100 },
        tools: [kit.tool("dig", "write")],
      });
      return [
        createAgent({
          name: this.name,
          model: kit.model([{ ...task(helper.name), usage }, "never"], { price }),
          settings: { maxTokens: 100 },
          limits: { maxCost: "0.45" },
          tools: [agentTool(helper)],
        }),
      ];
    },
    ends: { reason: "budget-exhausted" },
    writes: { dig: 3 },
  }),
];
