import { createAgent } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";

export const TOOLS: readonly EngineScenario[] = [
  {
    name: "answers-at-once",
    about: "tools",
    agent: "quick",
    agents: (kit) => [createAgent({ name: "quick", model: kit.model(["It is three."]) })],
    input: "What is one and two?",
    ends: { reason: "complete", text: "It is three." },
  },
  {
    name: "writes-once",
    about: "tools",
    agent: "writer",
    agents: (kit) => [
      createAgent({
        name: "writer",
        model: kit.model([{ toolCalls: [{ name: "send", input: { to: "ann" } }] }, "It is sent."]),
        tools: [kit.tool("send", "write")],
      }),
    ],
    input: "Send it.",
    ends: { reason: "complete", text: "It is sent." },
    writes: { send: 1 },
  },
];
