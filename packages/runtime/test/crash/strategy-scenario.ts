import { closureGuard, fsmStrategy, signalRoute, waitForSignalTool } from "../../src/agent/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createAgent } from "../../src/index.ts";
import type { ScriptedResponse } from "../../src/testing/scripted-model.ts";
import { openRunner, scriptByTurn, tool, type ScenarioServices } from "./scenario.ts";

/** What the model asks for, turn by turn: what is possible where it stands, and what is not. */
const TURNS: readonly (readonly { readonly name: string; readonly input: { readonly [name: string]: string | number } }[])[] = [
  [
    { name: "look", input: { at: "door" } },
    { name: "pay", input: { amount: 5 } },
    { name: "mark", input: { with: "chalk" } },
    { name: "look", input: { at: "window" } },
    // Runs between the move and a call that was not possible when it was asked for, and is by now.
    { name: "peek", input: { at: "clock" } },
    { name: "send", input: { to: "ann" } },
  ],
  [
    { name: "send", input: { to: "bob" } },
    { name: "send", input: { to: "ann" } },
  ],
  [{ name: "wait_for_order", input: {} }],
  [{ name: "wait_for_freeze", input: {} }],
  [
    { name: "pay", input: { amount: 5 } },
    { name: "transition", input: { action: "thaw" } },
  ],
  [{ name: "pay", input: { amount: 5 } }],
];

/** A run that is held to a state machine, moves it by tools, by an action and by a signal, and waits for signals. */
export function openConstrained(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;
  const strategy = fsmStrategy()
    .initial("new")
    .state("new", { tools: ["look"] })
    .tools("peek", "wait_for_order", "wait_for_freeze")
    .transition("new", "mark", "checked")
    .transitionWithGuard(
      "checked",
      "send",
      "told",
      closureGuard("to ann", (input) => (input as { readonly to?: string }).to === "ann"),
      0,
    )
    .transition("frozen", "thaw", "told")
    .offer("thaw")
    .transition("told", "pay", "paid")
    .route(signalRoute("freeze", { type: "transition", state: "frozen" }))
    .build();
  return openRunner(services, () =>
    createAgent({
      name: "constrained",
      model: scriptByTurn(points, "scripted/constrained", (turn, request): ScriptedResponse => {
        const toolCalls = TURNS[turn];
        return toolCalls ? { toolCalls } : { text: `Done after ${request.messages.length} messages.` };
      }),
      strategy,
      tools: [
        tool(services, "look", "read"),
        tool(services, "peek", "read"),
        tool(services, "mark", "idempotent"),
        tool(services, "send", "write"),
        tool(services, "pay", "write", true),
        waitForSignalTool({ name: "wait_for_order", kinds: ["order"] }),
        waitForSignalTool({ name: "wait_for_freeze", kinds: ["freeze"] }),
      ],
      signalRoutes: [signalRoute("order", { type: "custom", name: "book" })],
      onSignal: {
        async book() {
          await points.pass("book/before");
          const count = effects.read().filter(({ tool: name }) => name === "book").length;
          effects.write({ tool: "book", key: "book", attempt: count });
          await points.pass("book/after");
          // Another response each time it is asked.
          return { type: "message", text: `Booked as number ${count}.` };
        },
      },
    }),
  );
}
