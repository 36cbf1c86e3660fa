import type { EngineScenario } from "../engine-scenario.ts";
import type { ScenarioKit, ScenarioTurn } from "../scenario-kit.ts";
import { call, oneAgent } from "./one-agent.ts";

const failures = "failures";

/** Fails the first time, in whatever process, and responds after that. */
function unreliable(kit: ScenarioKit, place: string, response: Exclude<ScenarioTurn, (...given: never) => unknown>): ScenarioTurn {
  return () => (kit.once(place) ? { error: { kind: "server-error", message: "overloaded" } } : response);
}

export const FAILURES: readonly EngineScenario[] = [
  oneAgent({
    name: "asks-its-model-again",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("send"), unreliable(kit, "asks-its-model-again", "It is sent.")]),
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "complete", text: "It is sent." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "falls-back-to-another-model",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("send"), { error: { kind: "server-error", message: "down" } }]),
      fallbackModel: kit.model(["never", "It is sent all the same."], { name: "scripted/fallback" }),
      limits: { maxRetries: 1 },
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "complete", text: "It is sent all the same." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "ends-in-an-error-of-its-model",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("send"), { error: { kind: "invalid-request", message: "no such parameter" } }]),
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "error" },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "runs-out-of-turns",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("send", { n: 1 }), call("send", { n: 2 }), "never"]),
      tools: [kit.tool("send", "write")],
      limits: { maxTurns: 2 },
    }),
    ends: { reason: "max-turns" },
    writes: { send: 2 },
  }),
  oneAgent({
    name: "says-too-much",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("look"), { text: "It is a long", stopReason: "max-tokens" }]),
      tools: [kit.tool("look", "read")],
    }),
    ends: { reason: "max-output" },
  }),
  oneAgent({
    name: "goes-on-where-it-was-cut",
    about: failures,
    options: (kit) => ({
      model: kit.model([{ text: "It is a long", stopReason: "max-tokens" }, " story."]),
      onMaxTokens: "continue",
    }),
    ends: { reason: "complete" },
  }),
  oneAgent({
    name: "is-refused",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("look"), { text: "I can't", stopReason: "content-filter" }]),
      tools: [kit.tool("look", "read")],
    }),
    ends: { reason: "safety-stop" },
  }),
  oneAgent({
    name: "gets-nowhere",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("send", { n: 1 }), call("send", { n: 2 }), call("send", { n: 3 }), "never"]),
      tools: [kit.tool("send", "write", { fails: "no line" })],
      limits: { maxFailedTurns: 2 },
    }),
    ends: { reason: "circuit-breaker" },
    writes: { send: 2 },
  }),
  oneAgent({
    name: "decides-about-a-failure",
    about: failures,
    options: (kit) => ({
      model: kit.model([call("send"), { error: { kind: "invalid-request", message: "no" } }]),
      onModelError: () => ({ type: "abort", message: "given up" }),
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "error" },
    writes: { send: 1 },
  }),
];

/** One that waits for a person, with a call beside. */
const waiting = (kit: ScenarioKit, ...after: readonly ScenarioTurn[]) => ({
  model: kit.model([call("look"), call("pay"), ...after]),
  tools: [kit.tool("look", "read"), kit.tool("pay", "write")],
  permissions: { rules: [{ pattern: "pay", behavior: "ask" as const }] },
});

export const STEERING: readonly EngineScenario[] = [
  oneAgent({
    name: "is-steered-while-it-waits",
    about: "steering",
    options: (kit) => waiting(kit, "It is paid, politely."),
    acts: [
      { type: "steer", message: "Be polite." },
      { type: "decide", tool: "pay", decision: { type: "allow" } },
    ],
    ends: { reason: "complete", text: "It is paid, politely." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "is-interrupted-while-it-waits",
    about: "steering",
    options: (kit) => waiting(kit, "Then I leave it.", "It is left."),
    acts: [
      { type: "steer", message: "Leave it.", interrupt: true },
      { type: "decide", tool: "pay", decision: { type: "allow" } },
    ],
    ends: { reason: "complete" },
  }),
  oneAgent({
    name: "is-steered-while-it-works",
    about: "steering",
    options: (kit) => ({
      model: kit.model([call("hint"), call("send"), "As you said."]),
      tools: [
        kit.tool("hint", "read", {
          async output(_input, { session }) {
            await kit.runner().steer(session, "Send it by mail.");
            return "hinted";
          },
        }),
        kit.tool("send", "write"),
      ],
    }),
    ends: { reason: "complete", text: "As you said." },
    writes: { send: 1 },
  }),
];

export const CANCELLATION: readonly EngineScenario[] = [
  oneAgent({
    name: "is-stopped-while-it-waits",
    about: "cancellation",
    options: (kit) => waiting(kit, "never"),
    acts: [{ type: "stop" }],
    ends: { reason: "stopped" },
  }),
  oneAgent({
    name: "is-aborted-while-it-waits",
    about: "cancellation",
    options: (kit) => waiting(kit, "never"),
    acts: [{ type: "abort", reason: "enough" }],
    ends: { reason: "aborted" },
  }),
  oneAgent({
    name: "is-stopped-while-it-works",
    about: "cancellation",
    options: (kit) => ({
      model: kit.model([call("halt"), call("send"), "never"]),
      tools: [
        // Its counter does not tell whether the stop had arrived, so that nobody could decide about a write that a crash left unknown.
        kit.tool("halt", "idempotent", {
          async output(_input, { session }) {
            await kit.runner().stop(session);
            return "halting";
          },
        }),
        kit.tool("send", "write"),
      ],
    }),
    ends: { reason: "stopped" },
    writes: {},
  }),
  oneAgent({
    name: "is-aborted-while-it-works",
    about: "cancellation",
    options: (kit) => ({
      model: kit.model([call("halt"), call("send"), "never"]),
      tools: [
        kit.tool("halt", "read", {
          async output(_input, { session }) {
            await kit.runner().abort(session, "enough");
            return new Promise<never>(() => {});
          },
        }),
        kit.tool("send", "write"),
      ],
    }),
    ends: { reason: "aborted" },
  }),
];
