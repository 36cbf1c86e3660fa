import { setTimeout as delay } from "node:timers/promises";
import type { InferRequest, Provider } from "@keelson/protocol";
import { createAgent, defineTool, type Agent } from "keelson";
import { scriptedModel, type ScriptedResponse } from "keelson/testing";

export interface Simulation {
  /** Turns of a run, the last of which calls no tool. */
  readonly turns: number;
  /** How long the model takes to respond. */
  readonly delayMs: number;
}

/** An agent whose model takes its time, and asks for a tool that writes in each turn but the last. */
export function createBee(simulation: Simulation): Agent {
  const write = defineTool({
    name: "write",
    description: "Writes something down.",
    effect: "write",
    input: { type: "object" },
    execute: () => "It is written. ".repeat(20),
  });
  return createAgent({
    name: "bee",
    instructions: "You write things down. ".repeat(40),
    model: simulatedModel(simulation),
    tools: [write],
    permissions: { mode: "bypass-all" },
    limits: { maxTurns: simulation.turns },
  });
}

/** It goes by the conversation alone, and remembers nothing: any process goes on with it, and thousands of runs take no memory. */
function simulatedModel({ turns, delayMs }: Simulation): Provider {
  const respond = async ({ messages }: InferRequest): Promise<ScriptedResponse> => {
    await delay(delayMs);
    const turn = messages.filter(({ role }) => role === "assistant").length;
    return turn < turns - 1 ? { text: "I write. ".repeat(10), toolCalls: [{ name: "write", input: { turn } }] } : { text: "Done." };
  };
  return { name: "simulated/model", stream: (request, options) => scriptedModel([respond]).stream(request, options) };
}
