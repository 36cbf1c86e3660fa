import { defineTool, agentTool, createAgent } from "../../src/index.ts";
import { createHookRegistry, fsmStrategy } from "../../src/agent/index.ts";
import type { Tool } from "@keelson/protocol";
import { z } from "zod";
import { type OpenRunner, openRunner, type ScenarioServices, scriptByTurn, tool } from "./scenario.ts";

interface Shape {
  readonly version?: string;
  readonly effect: "read" | "idempotent" | "write";
  /** What its arguments must have. */
  readonly takes?: "anything" | "to" | "subject";
  /** Whether it knows what became of a call. */
  readonly canTell?: boolean;
}

/** What one build has of a definition, and another may not. */
export interface Change {
  readonly name: string;
  readonly send?: Shape;
  readonly post?: Shape;
  /** The tool of which a rule says that people are asked. */
  readonly asksAbout?: string;
  readonly instructions?: string;
  /** What the first state of its state machine is called, where it has one. */
  readonly states?: string;
  readonly helper?: string;
  readonly hook?: boolean;
}

/** An agent that sends and posts side by side, has a helper work, and responds. */
export function openChanging(change: Change): OpenRunner {
  return (services) => openRunner(services, () => agentOf(services, change));
}

const INPUTS = {
  anything: z.object({}).loose(),
  to: z.object({ to: z.string() }).loose(),
  subject: z.object({ subject: z.string() }).loose(),
};

function agentOf(services: ScenarioServices, change: Change) {
  const { points } = services;
  const { name, asksAbout, instructions, states, helper, hook, ...shapes } = change;
  const tools: Tool[] = [];
  for (const [own, shape] of Object.entries(shapes)) tools.push(shapedTool(services, own, shape));
  if (helper !== undefined) {
    tools.push(
      agentTool(
        createAgent({
          name: "helper",
          description: "Helps.",
          model: scriptByTurn(points, "scripted/helper", (turn) =>
            turn === 0 ? { toolCalls: [{ name: "file", input: { to: "the shelf" } }] } : { text: "Helped." },
          ),
          tools: helper === "same" ? [tool(services, "file", "write")] : [],
        }),
      ),
    );
  }
  const asked = asksAbout !== undefined && tools.some((one) => one.name === asksAbout);
  return createAgent({
    name,
    model: scriptByTurn(points, "scripted/changing", (turn) => {
      if (turn === 0)
        return {
          toolCalls: [
            { name: "send", input: { to: "ann" } },
            { name: "post", input: { to: "bob" } },
          ],
        };
      return turn === 1 ? { toolCalls: [{ name: "helper", input: { task: "Help." } }] } : { text: "Done." };
    }),
    tools,
    ...(asked && { permissions: { rules: [{ pattern: asksAbout, behavior: "ask" }] } }),
    ...(instructions !== undefined && { instructions: instructions === "asked for" ? () => askedFor(services) : instructions }),
    ...(states !== undefined && {
      strategy: fsmStrategy()
        .initial(states)
        .state(states, { tools: tools.map((one) => one.name) })
        .build(),
    }),
    // A hook about a tool that the agent does not have is refused.
    ...(hook === true &&
      tools.some((one) => one.name === "send") && {
        hooks: createHookRegistry().onPreToolUse("send", async () => void (await points.pass("hook"))),
      }),
  });
}

async function askedFor({ points }: ScenarioServices): Promise<string> {
  await points.pass("instructions");
  return "As asked for.";
}

function shapedTool({ points, effects }: ScenarioServices, name: string, { version, effect, takes = "anything", canTell }: Shape): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect,
    input: INPUTS[takes],
    ...(version !== undefined && { version }),
    async execute(given, { idempotencyKey, attempt }) {
      await points.pass(`${name}/before`);
      effects.write({ tool: name, key: idempotencyKey, attempt });
      await points.pass(`${name}/after`);
      return `did ${name} with ${JSON.stringify(given)}`;
    },
    ...(canTell === true && {
      async reconcile() {
        await points.pass(`${name}/reconcile`);
        return "not-done" as const;
      },
    }),
  }) as Tool;
}
