import { createAgent } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";

export const APPROVALS: readonly EngineScenario[] = [
  {
    name: "allowed",
    about: "approvals",
    agent: "payer",
    agents: (kit) => [
      createAgent({
        name: "payer",
        model: kit.model([{ toolCalls: [{ name: "pay", input: { cents: 5 } }] }, "It is paid."]),
        tools: [kit.tool("pay", "write")],
        permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
      }),
    ],
    input: "Pay five cents.",
    acts: [{ type: "decide", tool: "pay", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "It is paid." },
    writes: { pay: 1 },
  },
];
