import { createAgent } from "../../src/index.ts";
import type { InferRequest, OpenToolSource, Tool, ToolSource } from "@keelson/protocol";
import { openRunner, type OpenRunner, type ScenarioServices, scriptByTurn, tool } from "./scenario.ts";

/** Every request that was made, by the turn that it belongs to. */
export type Requests = Map<number, Set<string>>;

/** How a source of tools behaves in the lives of a process. */
export interface SourcesScenario {
  readonly requests: Requests;
  /** What every life offers a tool more than the one before: what was offered to a turn that is resumed must not change with it. */
  readonly grows: boolean;
}

/**
 * A source whose tools come as the world changes: `post` once the mark was made, while `send` goes once that was sent. In each life it takes its time to be
 * there, so that a turn that is resumed begins without it.
 */
export function openWithSource(scenario: SourcesScenario): OpenRunner {
  let lives = 0;
  return (services) => {
    const life = ++lives;
    return openRunner(services, () =>
      createAgent({
        name: "main",
        model: scriptByTurn(services.points, "scripted/main", (turn, request) => {
          note(scenario.requests, turn, request);
          switch (turn) {
            case 0:
              return {
                toolCalls: [
                  { name: "look", input: {} },
                  { name: "mark", input: { with: "chalk" } },
                ],
              };
            case 1:
              return {
                toolCalls: [
                  { name: "send", input: { to: "ann" } },
                  { name: "post", input: { to: "bob" } },
                ],
              };
            case 2:
              return { toolCalls: [{ name: "search_tools", input: { query: "pay" } }] };
            case 3:
              return { toolCalls: [{ name: "pay", input: { amount: 5 } }] };
            default:
              return { text: "Done." };
          }
        }),
        tools: [tool(services, "look", "read")],
        toolSources: [sourceOf(services, scenario.grows ? life : 0)],
        // By name from when there are more than a few.
        deferTools: { aboveTools: 2 },
        permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
      }),
    );
  };
}

function note(requests: Requests, turn: number, request: InferRequest): void {
  const seen = requests.get(turn) ?? new Set();
  requests.set(turn, seen.add(JSON.stringify(request)));
}

function sourceOf(services: ScenarioServices, life: number): ToolSource {
  const { effects } = services;
  const done = (name: string): boolean => effects.read().some((act) => act.tool === name);
  const [mark, send, post, pay] = [
    tool(services, "mark", "idempotent"),
    tool(services, "send", "write"),
    tool(services, "post", "write", true),
    tool(services, "pay", "write"),
  ];
  const more = Array.from({ length: life }, (_, index) => tool(services, `extra_${index}`, "read"));
  const tools = (): readonly Tool[] => [
    ...(done("send") ? [] : [send as Tool]),
    ...(done("mark") ? [post as Tool, pay as Tool, mark as Tool, ...more] : [mark as Tool]),
  ];
  return {
    name: "shelf",
    open(): OpenToolSource {
      let isThere = false;
      const ready = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        isThere = true;
      });
      return {
        ready,
        startupWaitMs: 50_000,
        tools: () => (isThere ? tools() : []),
        async [Symbol.asyncDispose]() {},
      };
    },
  };
}
