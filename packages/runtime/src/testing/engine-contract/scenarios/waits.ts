import { signalRoute, waitForSignalTool } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import type { ScenarioKit } from "../scenario-kit.ts";
import { call, calls, oneAgent } from "./one-agent.ts";

const HOUR_MS = 3_600_000;

export const TIMERS: readonly EngineScenario[] = [
  oneAgent({
    name: "waits-for-a-moment",
    about: "timers",
    options: (kit) => ({
      model: kit.model([call("wait"), call("send"), "It was time."]),
      tools: [waitForSignalTool({ kinds: [], timeoutMs: 300 }), kit.tool("send", "write")],
    }),
    ends: { reason: "complete", text: "It was time." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "waits-an-hour",
    about: "timers",
    options: (kit) => ({
      model: kit.model([calls("send", "wait"), call("send"), "An hour has passed."]),
      tools: [waitForSignalTool({ kinds: [], timeoutMs: HOUR_MS }), kit.tool("send", "write")],
    }),
    acts: [{ type: "pass", ms: HOUR_MS + 1 }],
    ends: { reason: "complete", text: "An hour has passed." },
    writes: { send: 2 },
  }),
  oneAgent({
    name: "waits-in-vain",
    about: "timers",
    options: (kit) => ({
      model: kit.model([call("wait_for_signal"), "Nobody wrote."]),
      tools: [waitForSignalTool({ kinds: ["mail"], timeoutMs: HOUR_MS })],
    }),
    acts: [
      { type: "pass", ms: HOUR_MS / 2 },
      { type: "pass", ms: HOUR_MS },
    ],
    ends: { reason: "complete", text: "Nobody wrote." },
  }),
];

/** One that waits for mail, and then writes. */
const mailbox = (kit: ScenarioKit, last: string) => ({
  model: kit.model([call("wait_for_signal"), call("send"), last]),
  tools: [waitForSignalTool({ kinds: ["mail"] }), kit.tool("send", "write")],
});

export const SIGNALS: readonly EngineScenario[] = [
  oneAgent({
    name: "waits-for-a-signal",
    about: "signals",
    options: (kit) => mailbox(kit, "There was mail."),
    acts: [{ type: "signal", signal: { kind: "mail", payload: { from: "ann" } } }],
    ends: { reason: "complete", text: "There was mail." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "waits-on-after-another-signal",
    about: "signals",
    options: (kit) => mailbox(kit, "There was mail at last."),
    acts: [
      { type: "signal", signal: { kind: "weather", payload: "rain" } },
      { type: "signal", signal: { kind: "mail", payload: null } },
    ],
    ends: { reason: "complete" },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "ends-by-a-signal",
    about: "signals",
    options: (kit) => ({ ...mailbox(kit, "never"), signalRoutes: [signalRoute("recall", { type: "graceful-stop" })] }),
    acts: [{ type: "signal", signal: { kind: "recall", payload: null } }],
    ends: { reason: "stopped" },
  }),
  oneAgent({
    name: "handles-a-signal",
    about: "signals",
    options: (kit) => ({
      ...mailbox(kit, "It was handled."),
      signalRoutes: [signalRoute("hint", { type: "custom", name: "hint" })],
      onSignal: { hint: ({ payload }) => ({ type: "message", text: `A hint: ${String(payload)}` }) },
    }),
    acts: [
      { type: "signal", signal: { kind: "hint", payload: "look twice" } },
      { type: "signal", signal: { kind: "mail", payload: null } },
    ],
    ends: { reason: "complete" },
    writes: { send: 1 },
  }),
];
