import type { PermissionMode, Tool } from "@keelson/protocol";
import type { AgentOptions } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import type { ScenarioKit, ScenarioTurn } from "../scenario-kit.ts";
import { call, calls, oneAgent } from "./one-agent.ts";

const about = "approvals";

/** An agent that may pay when somebody allows it. */
function payer(kit: ScenarioKit, turns: readonly ScenarioTurn[]): Omit<AgentOptions, "name"> {
  return {
    model: kit.model(turns),
    tools: [kit.tool("pay", "write"), kit.tool("refund", "write"), kit.tool("note", "write")],
    permissions: {
      rules: [
        { pattern: "pay", behavior: "ask" },
        { pattern: "refund", behavior: "ask" },
      ],
    },
  };
}

/** A tool that sets the permission mode of the run that calls it, as another process would. */
function setsMode(kit: ScenarioKit, name: string, mode: PermissionMode): Tool {
  return kit.tool(name, "read", {
    output: async (_input, { session }) => {
      await kit.runner().setPermissionMode(session, mode);
      return mode;
    },
  });
}

export const APPROVALS: readonly EngineScenario[] = [
  oneAgent({
    name: "allowed",
    about,
    options: (kit) => payer(kit, [call("pay", { cents: 5 }), "It is paid."]),
    acts: [{ type: "decide", tool: "pay", decision: { type: "allow", by: "ann" } }],
    ends: { reason: "complete", text: "It is paid." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "denied",
    about,
    options: (kit) => payer(kit, [call("pay", { cents: 5 }), "I may not."]),
    acts: [{ type: "decide", tool: "pay", decision: { type: "deny", reason: "too much" } }],
    ends: { reason: "complete", text: "I may not." },
  }),
  oneAgent({
    name: "allowed-with-other-arguments",
    about,
    options: (kit) => payer(kit, [call("pay", { cents: 5 }), "It is paid in part."]),
    acts: [{ type: "decide", tool: "pay", decision: { type: "allow-modified", input: { cents: 1 } } }],
    ends: { reason: "complete", text: "It is paid in part." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "allowed-for-good",
    about,
    options: (kit) => ({
      ...payer(kit, [call("pay", { cents: 5 }), call("pay", { cents: 6 }), "Both are paid."]),
      permissions: {},
      tools: [kit.tool("pay", "write", { risk: "high" })],
    }),
    acts: [{ type: "decide", tool: "pay", decision: { type: "allow-always", rules: ["pay"] } }],
    ends: { reason: "complete", text: "Both are paid." },
    writes: { pay: 2 },
  }),
  oneAgent({
    name: "ended-by-whoever-was-asked",
    about,
    options: (kit) => payer(kit, [call("pay"), "never"]),
    acts: [{ type: "decide", tool: "pay", decision: { type: "abort", reason: "fraud" } }],
    ends: { reason: "aborted" },
  }),
  oneAgent({
    name: "two-questions-at-once",
    about,
    options: (kit) => payer(kit, [calls("pay", "refund"), "One of them."]),
    acts: [
      { type: "decide", tool: "refund", decision: { type: "deny" } },
      { type: "decide", tool: "pay", decision: { type: "allow" } },
    ],
    ends: { reason: "complete", text: "One of them." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "one-question-after-another",
    about,
    options: (kit) => payer(kit, [call("pay"), call("note"), call("refund"), "Paid, and paid back."]),
    acts: [
      { type: "decide", tool: "pay", decision: { type: "allow" } },
      { type: "decide", tool: "refund", decision: { type: "allow" } },
    ],
    ends: { reason: "complete", text: "Paid, and paid back." },
    writes: { pay: 1, note: 1, refund: 1 },
  }),
  oneAgent({
    name: "a-question-among-other-calls",
    about,
    options: (kit) => payer(kit, [calls("note", "pay", "note"), "It is noted and paid."]),
    acts: [{ type: "decide", tool: "pay", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "It is noted and paid." },
    writes: { note: 2, pay: 1 },
  }),
  oneAgent({
    name: "a-question-that-expires",
    about,
    options: (kit) => payer(kit, [call("pay"), "It is paid after all."]),
    acts: [
      { type: "decide-too-late", tool: "pay", decision: { type: "allow" } },
      { type: "decide", tool: "pay", decision: { type: "allow" } },
    ],
    ends: { reason: "complete", text: "It is paid after all." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "a-permission-mode-that-is-set",
    about,
    options: (kit) => ({
      model: kit.model([call("loosen"), call("pay"), call("tighten"), call("pay"), "It is paid once."]),
      tools: [kit.tool("pay", "write", { risk: "high" }), setsMode(kit, "loosen", "bypass-all"), setsMode(kit, "tighten", "plan-only")],
    }),
    ends: { reason: "complete", text: "It is paid once." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "left-waiting",
    about,
    options: (kit) => payer(kit, [call("pay"), "never"]),
    ends: { reason: "awaiting-approval" },
  }),
];
