import { textMessage, type Directive } from "@keelson/protocol";
import { createHookRegistry, definePlugin, fsmStrategy } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import type { ScenarioKit } from "../scenario-kit.ts";
import { call, calls, oneAgent } from "./one-agent.ts";

const asking = (kit: ScenarioKit) => ({
  model: kit.model([call("look"), call("pay"), "It is paid."]),
  tools: [kit.tool("look", "read"), kit.tool("pay", "write")],
  permissions: { rules: [{ pattern: "pay", behavior: "ask" as const }] },
});

const allowed = [{ type: "decide", tool: "pay", decision: { type: "allow" } }] as const;

export const PLUGINS_AND_HOOKS: readonly EngineScenario[] = [
  oneAgent({
    name: "a-plugin-keeps-a-diary",
    about: "plugins",
    options: (kit) => ({
      ...asking(kit),
      plugins: [
        definePlugin({
          key: "diary",
          initialState: { lines: [] as string[] },
          beforeRun: ({ message }, state) => void state.value.lines.push(`before ${message}`),
          onUserMessage: ({ turn, message }, state) => void state.value.lines.push(`heard ${turn} ${message}`),
          onEvent: ({ turn, event }, state) => void state.value.lines.push(`saw ${turn} ${event.type}`),
          afterRun: ({ reason }, state) => void state.value.lines.push(`after ${reason}`),
        }),
      ],
    }),
    acts: [{ type: "steer", message: "Be polite." }, ...allowed],
    ends: { reason: "complete", text: "It is paid." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "hooks-look-on-and-refuse",
    about: "hooks",
    options: (kit) => ({
      model: kit.model([calls("send", "burn"), call("send", { again: true }), "Only sent."]),
      tools: [kit.tool("send", "write"), kit.tool("burn", "write")],
      hooks: createHookRegistry()
        .onSessionStart(() => {})
        .onPreToolUse("burn", () => ({ type: "abort", reason: "no fire" }))
        .onPostToolUse("send", () => ({ type: "tell", reason: "Check the address." }))
        .onSessionEnd(() => {}),
    }),
    ends: { reason: "complete", text: "Only sent." },
    writes: { send: 2 },
  }),
  oneAgent({
    name: "hooks-hear-of-a-wait",
    about: "hooks",
    options: (kit) => ({
      ...asking(kit),
      hooks: createHookRegistry()
        .onSessionStart(() => {})
        .onNotification("*", () => {}),
      beforeTurn: () => undefined,
      afterTurn: () => {},
    }),
    acts: allowed,
    ends: { reason: "complete", text: "It is paid." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "is-halted-before-a-turn",
    about: "hooks",
    options: (kit) => ({
      model: kit.model([call("send"), "never"]),
      tools: [kit.tool("send", "write")],
      beforeTurn: ({ turn }) => (turn === 2 ? { type: "abort", reason: "one turn is enough" } : undefined),
    }),
    ends: { reason: "halted" },
    writes: { send: 1 },
  }),
];

/** Declares what it is called with. */
function declaring(kit: ScenarioKit) {
  return kit.tool("declare", "idempotent", {
    output(input, context) {
      context.declare?.({ type: "directive", directive: input as unknown as Directive });
      context.declare?.({ type: "custom", name: "ring", payload: { times: 2 } });
      return "declared";
    },
  });
}

export const SHAPED_RUNS: readonly EngineScenario[] = [
  oneAgent({
    name: "follows-a-state-machine",
    about: "strategies",
    options: (kit) => ({
      model: kit.model([call("send", { to: "nobody" }), call("check"), call("send", { to: "ann" }), "It is on its way."]),
      tools: [kit.tool("check", "read"), kit.tool("send", "write")],
      strategy: fsmStrategy()
        .initial("new")
        .state("new", { tools: ["check"] })
        .transition("new", "check", "checked")
        .transition("checked", "send", "sent")
        .build(),
    }),
    ends: { reason: "complete", text: "It is on its way." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "gives-typed-output",
    about: "structured output",
    options: (kit) => ({
      model: kit.model([call("count"), call("final_answer", { total: "twelve" }), call("final_answer", { total: 12 })]),
      tools: [kit.tool("count", "read")],
      output: { type: "object", properties: { total: { type: "number" } }, required: ["total"] } as never,
    }),
    ends: { reason: "complete", output: { total: 12 } },
  }),
  oneAgent({
    name: "shortens-its-conversation",
    about: "compaction",
    options: (kit) => ({
      model: kit.model([
        // Behind the summary, the conversation begins again.
        ({ messages }) =>
          messages[0]?.content.some((part) => part.type === "text" && part.text === "It was sent.") ? "It is sent." : call("send"),
        { error: { kind: "context-overflow", message: "too many tokens" } },
      ]),
      tools: [kit.tool("send", "write")],
      compact: async () => ({ messages: [textMessage("user", "It was sent.")], summary: "It was sent." }),
    }),
    ends: { reason: "complete", text: "It is sent." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "declares-effects",
    about: "effects",
    options: (kit) => ({
      model: kit.model([call("declare", { type: "run-instruction", instruction: "measure", input: 1 }), "It is measured."]),
      tools: [declaring(kit)],
    }),
    ends: { reason: "complete", text: "It is measured." },
  }),
  oneAgent({
    name: "goes-on-in-its-session",
    about: "sessions",
    options: (kit) => ({
      model: kit.model([call("send", { n: 1 }), "The first is sent.", call("send", { n: 2 }), "The second is sent."]),
      tools: [kit.tool("send", "write")],
    }),
    acts: [{ type: "run", input: "And another." }],
    ends: { reason: "complete", text: "The second is sent." },
    writes: { send: 2 },
  }),
  oneAgent({
    name: "is-taken-back-and-goes-on",
    about: "sessions",
    options: (kit) => ({
      model: kit.model([call("send", { n: 1 }), "It is sent.", call("send", { n: 3 }), "Another way."]),
      tools: [kit.tool("send", "write")],
    }),
    acts: [
      { type: "rewind", turns: 1 },
      { type: "run", input: "Do it another way." },
    ],
    ends: { reason: "complete" },
    writes: { send: 1 },
  }),
];
