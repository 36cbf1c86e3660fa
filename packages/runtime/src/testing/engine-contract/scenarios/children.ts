import { agentTool, createAgent } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";

export const CHILDREN: readonly EngineScenario[] = [
  {
    name: "child-that-asks",
    about: "children",
    agent: "asking-lead",
    agents(kit) {
      const helper = createAgent({
        name: "asking-helper",
        model: kit.model([{ toolCalls: [{ name: "print", input: { pages: 3 } }] }, "It is printed."]),
        tools: [kit.tool("print", "write")],
        permissions: { rules: [{ pattern: "print", behavior: "ask" }] },
      });
      return [
        createAgent({
          name: "asking-lead",
          model: kit.model([{ toolCalls: [{ name: "asking-helper", input: { task: "Print it." } }] }, "The helper has printed it."]),
          tools: [agentTool(helper)],
        }),
      ];
    },
    input: "Have it printed.",
    acts: [{ type: "decide", tool: "print", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "The helper has printed it." },
    writes: { print: 1 },
  },
];
