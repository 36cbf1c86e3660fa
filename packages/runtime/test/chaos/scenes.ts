import { agentTool, createAgent, defineTool, type Agent, type Tool, type ToolCall, type ToolEffect } from "keelson";
import { waitForSignalTool } from "keelson/agent";
import { scriptedModel, type ChaosScene, type ScriptedTurn } from "keelson/testing";

const PRICE = { input: "1", output: "1", asOf: "2026-01-01" };

/** What the tools of a scene did, under which keys. */
export interface World {
  readonly deeds: string[];
  readonly keys: Set<string>;
}

export function newWorld(): World {
  return { deeds: [], keys: new Set() };
}

/** A tool that writes down what it does: an idempotent one once for each key. */
export function deed(world: World, name: string, effect: ToolEffect, more: Partial<Pick<Tool, "reconcile">> = {}): Tool {
  return {
    ...(defineTool({
      name,
      description: `Does ${name}.`,
      effect,
      input: { type: "object" },
      execute(input, { idempotencyKey }) {
        if (effect !== "idempotent" || !world.keys.has(idempotencyKey)) world.deeds.push(`${name} ${JSON.stringify(input)}`);
        world.keys.add(idempotencyKey);
        return `${name} is done`;
      },
    }) as Tool),
    ...more,
  };
}

/** A check of its own that looks into the world. */
export function lookingIn(world: World): Pick<Tool, "reconcile"> {
  return {
    reconcile: (_input: unknown, { idempotencyKey }: ToolCall) => (world.keys.has(idempotencyKey) ? { output: "found done" } : "not-done"),
  };
}

export const call = (name: string, input: { readonly [key: string]: string | number } = {}): ScriptedTurn => ({
  toolCalls: [{ name, input }],
});

export function agentOf(name: string, turns: readonly ScriptedTurn[], options: Partial<Parameters<typeof createAgent>[0]> = {}): Agent {
  return createAgent({ name, model: scriptedModel(turns, { name: `scripted/${name}`, price: PRICE }), ...options });
}

/** Looks, pays when a person allows it, and says so. */
export function payer(world: World = newWorld(), tools: readonly Tool[] = []): ChaosScene {
  const agent = agentOf("payer", [call("look", { at: "bill" }), call("pay", { to: "Ada" }), "Ada is paid."], {
    tools: [deed(world, "look", "read"), deed(world, "pay", "write"), ...tools],
  });
  return { agent, input: "Pay Ada.", world: () => world.deeds.filter((done) => !done.startsWith("look")) };
}

/** Every kind of act: reads side by side, idempotent and other writes, questions, signals, children that are called and that work beside, a budget. */
export function everything(): ChaosScene {
  const world = newWorld();
  const helper = agentOf("helper", [call("file", { report: 1 }), "It is filed."], {
    tools: [deed(world, "file", "write", lookingIn(world))],
  });
  const aside = agentOf("aside", [call("note", { word: "tea" }), "It is noted."], { tools: [deed(world, "note", "idempotent")] });
  const lead = agentOf(
    "lead",
    [
      {
        toolCalls: [
          { name: "look", input: { at: "door" } },
          { name: "look", input: { at: "window" } },
          { name: "mark", input: {} },
          { name: "aside", input: { task: "Note it." } },
        ],
      },
      {
        text: "Telling them.",
        toolCalls: [
          { name: "send", input: { to: "ann" } },
          { name: "post", input: { to: "bob" } },
        ],
      },
      call("pay", { cents: 5 }),
      call("helper", { task: "File it." }),
      call("wait_for_signal"),
      "All is done.",
      "All is done.",
    ],
    {
      tools: [
        deed(world, "look", "read"),
        deed(world, "mark", "idempotent"),
        deed(world, "send", "write"),
        deed(world, "post", "write", lookingIn(world)),
        deed(world, "pay", "write"),
        agentTool(helper),
        agentTool(aside, { background: true }),
        waitForSignalTool({ kinds: ["paid"] }) as Tool,
      ],
      permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
      limits: { maxCost: "1", maxTokens: 100_000, maxTurns: 20 },
    },
  );
  return { agent: lead, input: "Do the job.", world: () => world.deeds.filter((done) => !done.startsWith("look")).toSorted() };
}
