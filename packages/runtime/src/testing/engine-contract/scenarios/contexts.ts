import type { InferRequest, ToolCall } from "@keelson/protocol";
import { agentTool, createAgent } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import { call, task, team } from "./one-agent.ts";

const about = "contexts";

interface Desk {
  readonly customer: string;
}

/** Returns the customer that a call finds in its context. */
function customerOf(_input: unknown, { context }: Pick<ToolCall, "context">): string {
  return (context as Desk).customer;
}

/** Repeats the last result of a tool. */
function lastResult({ messages }: Pick<InferRequest, "messages">): string {
  const results = messages.flatMap(({ content }) => content.filter((part) => part.type === "tool-result"));
  return JSON.stringify(results.at(-1)?.output);
}

export const CONTEXTS: readonly EngineScenario[] = [
  team({
    name: "makes-its-context-from-metadata",
    about,
    agents: (kit) => [
      createAgent({
        name: "makes-its-context-from-metadata",
        model: kit.model([call("send"), lastResult]),
        metadata: { customer: "ada" },
        context: async ({ metadata }): Promise<Desk> => ({ customer: String(metadata["customer"]) }),
        tools: [kit.tool("send", "write", { output: customerOf })],
        permissions: { rules: [{ pattern: "send", behavior: "ask" }] },
      }),
    ],
    acts: [{ type: "decide", tool: "send", decision: { type: "allow" } }],
    ends: { reason: "complete", text: '"ada"' },
    writes: { send: 1 },
  }),
  team({
    name: "passes-its-context-on",
    about,
    agents(kit) {
      const clerk = createAgent({
        name: `${this.name}-clerk`,
        model: kit.model([call("send"), lastResult]),
        context: ({
          inherited,
          metadata,
        }: {
          readonly inherited: Desk;
          readonly metadata: { readonly [name: string]: unknown };
        }): Desk => ({
          customer: `${inherited.customer}, ${String(metadata["customer"])}`,
        }),
        tools: [kit.tool("send", "write", { output: customerOf })],
        permissions: { rules: [{ pattern: "send", behavior: "ask" }] },
      });
      return [
        createAgent({
          name: this.name,
          model: kit.model([task(clerk.name), lastResult]),
          metadata: { customer: "ada" },
          context: ({ metadata }): Desk => ({ customer: `the desk of ${String(metadata["customer"])}` }),
          tools: [agentTool(clerk)],
        }),
      ];
    },
    acts: [{ type: "decide", tool: "send", decision: { type: "allow" } }],
    ends: { reason: "complete", text: JSON.stringify('"the desk of ada, ada"') },
    writes: { send: 1 },
  }),
];
