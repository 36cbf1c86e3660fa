import { textMessage } from "@keelson/protocol";
import { definePlugin, definePromptMiddleware, summarisationMark, type PluginState } from "../../src/agent/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createAgent, defineTool, type Tool } from "../../src/index.ts";
import { openRunner, scriptByTurn, type ScenarioServices } from "./scenario.ts";

/** A run with middleware that rewrites its input and marks for summarising, and two plugins that use every callback. */
export function openPlugged(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;
  const asked = async (callback: string): Promise<void> => {
    await points.pass(`${callback}/before`);
    effects.write({ tool: callback, key: "", attempt: 0 });
    await points.pass(`${callback}/after`);
  };
  const plugin = (key: string) => {
    type State = PluginState<{ lines: string[] }>;
    const note = async (callback: string, state: State, line: string) => {
      await asked(`${key}-${callback}`);
      state.value.lines.push(line);
      return [{ type: "emit" as const, event: { key, line } }];
    };
    return definePlugin({
      key,
      initialState: { lines: [] as string[] },
      // One of them is shown no more than it uses.
      ...(key === "two" && { events: ["turn-start", "tool-result", "message"] as const }),
      beforeRun: ({ message }, state) => note("beforeRun", state, `before ${message}`),
      onUserMessage: ({ turn, message }, state) => note("onUserMessage", state, `heard ${turn} ${message}`),
      async onEvent({ turn, event }, state) {
        if (event.type === "turn-start") return note("onEvent", state, `turn ${event.turn} seen in ${turn}`);
        // A run that is resumed has events of its own; what it did is told by these.
        if (event.type === "tool-result" || event.type === "message") state.value.lines.push(`saw ${turn} ${event.type}`);
        return undefined;
      },
      afterRun: ({ reason }, state) => note("afterRun", state, `after ${reason}`),
    });
  };
  return openRunner(services, () =>
    createAgent({
      name: "plugged",
      model: scriptByTurn(points, "scripted/plugged", (_turn, { messages }) => {
        const looked = messages.flatMap(({ content }) => content).findLast((part) => part.type === "tool-call")?.input as
          | { readonly number: number }
          | undefined;
        const number = (looked?.number ?? 0) + 1;
        return number > 3 ? { text: "Done." } : { text: `Look ${number}.`, toolCalls: [{ name: "look", input: { number } }] };
      }),
      tools: [
        defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "seen" }) as Tool,
      ],
      middleware: [
        definePromptMiddleware({
          name: "polite",
          async process({ messages, context }) {
            await asked("polite");
            return {
              type: "continue",
              input: { messages: [...messages, textMessage("user", "Please.")], context: { ...context, polite: true } },
            };
          },
        }),
        summarisationMark({ maxMessages: 4 }),
      ],
      compact: async (conversation) => ({ messages: conversation.slice(-2).map(({ message }) => message), summary: "cut" }),
      plugins: [plugin("one"), plugin("two")],
    }),
  );
}
