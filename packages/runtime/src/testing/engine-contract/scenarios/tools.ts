import type { EngineScenario } from "../engine-scenario.ts";
import { call, calls, oneAgent } from "./one-agent.ts";

const about = "tools";

export const TOOLS: readonly EngineScenario[] = [
  oneAgent({
    name: "answers-at-once",
    about,
    options: (kit) => ({ model: kit.model(["It is three."]) }),
    ends: { reason: "complete", text: "It is three." },
  }),
  oneAgent({
    name: "writes-once",
    about,
    options: (kit) => ({ model: kit.model([call("send", { to: "ann" }), "It is sent."]), tools: [kit.tool("send", "write")] }),
    ends: { reason: "complete", text: "It is sent." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "reads-marks-and-writes",
    about,
    options: (kit) => ({
      instructions: async ({ metadata }) => `You are careful. (${Object.keys(metadata).length})`,
      model: kit.model([call("look"), call("mark"), call("post"), call("look", { again: true }), "It is posted."]),
      tools: [kit.tool("look", "read"), kit.tool("mark", "idempotent"), kit.tool("post", "write")],
    }),
    ends: { reason: "complete", text: "It is posted." },
    writes: { post: 1 },
  }),
  oneAgent({
    name: "is-told-of-a-failed-write",
    about,
    options: (kit) => ({
      model: kit.model([call("send"), "It could not be sent."]),
      tools: [kit.tool("send", "write", { fails: "the line is dead" })],
    }),
    ends: { reason: "complete", text: "It could not be sent." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "calls-a-tool-that-is-not-there",
    about,
    options: (kit) => ({ model: kit.model([call("sned"), call("send"), "It is sent."]), tools: [kit.tool("send", "write")] }),
    ends: { reason: "complete", text: "It is sent." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "corrects-its-arguments",
    about,
    options: (kit) => ({
      model: kit.model([
        call("pay", { cents: "many" }),
        { toolCalls: [{ name: "pay", inputText: '{"cents": 3' }] },
        call("pay", { cents: 3 }),
        "It is paid.",
      ]),
      tools: [kit.tool("pay", "write", { input: { type: "object", properties: { cents: { type: "integer" } }, required: ["cents"] } })],
    }),
    ends: { reason: "complete", text: "It is paid." },
    writes: { pay: 1 },
  }),
  oneAgent({
    name: "gives-up-on-a-slow-tool",
    about,
    options: (kit) => ({
      model: kit.model([call("sleep"), "It took too long."]),
      tools: [kit.tool("sleep", "read", { timeoutMs: 20, output: () => new Promise<never>(() => {}) })],
    }),
    ends: { reason: "complete", text: "It took too long." },
  }),
  oneAgent({
    name: "keeps-a-large-result-apart",
    about,
    options: (kit) => ({
      model: kit.model([call("read_all"), call("look"), "It is long."]),
      tools: [kit.tool("read_all", "read", { output: "0123456789".repeat(20_000) }), kit.tool("look", "read")],
    }),
    ends: { reason: "complete", text: "It is long." },
  }),
  oneAgent({
    name: "works-many-turns",
    about,
    options: (kit) => ({
      model: kit.model([...Array.from({ length: 6 }, (_, turn) => call("send", { turn })), "All are sent."]),
      tools: [kit.tool("send", "write")],
    }),
    ends: { reason: "complete", text: "All are sent." },
    writes: { send: 6 },
  }),
];

const parallel = "parallel tools";

export const PARALLEL_TOOLS: readonly EngineScenario[] = [
  oneAgent({
    name: "reads-side-by-side",
    about: parallel,
    options: (kit) => ({
      model: kit.model([calls("door", "window", "roof"), "All is closed."]),
      tools: [kit.tool("door", "read"), kit.tool("window", "read"), kit.tool("roof", "read")],
    }),
    ends: { reason: "complete", text: "All is closed." },
  }),
  oneAgent({
    name: "writes-side-by-side",
    about: parallel,
    options: (kit) => ({
      model: kit.model([calls("red", "green", "blue"), "It is painted."]),
      tools: ["red", "green", "blue"].map((name) => kit.tool(name, "write", { concurrency: "shared" })),
    }),
    ends: { reason: "complete", text: "It is painted." },
    writes: { red: 1, green: 1, blue: 1 },
  }),
  oneAgent({
    name: "writes-between-reads",
    about: parallel,
    options: (kit) => ({
      model: kit.model([calls("look", "send", "look", "mark", "send"), "It is done."]),
      tools: [kit.tool("look", "read"), kit.tool("mark", "idempotent"), kit.tool("send", "write")],
    }),
    ends: { reason: "complete", text: "It is done." },
    writes: { send: 2 },
  }),
  oneAgent({
    name: "fails-beside-others",
    about: parallel,
    options: (kit) => ({
      model: kit.model([calls("one", "two", "three"), "Two of three."]),
      tools: [
        kit.tool("one", "write", { concurrency: "shared" }),
        kit.tool("two", "write", { concurrency: "shared", fails: "no paper" }),
        kit.tool("three", "write", { concurrency: "shared" }),
      ],
    }),
    ends: { reason: "complete", text: "Two of three." },
    writes: { one: 1, two: 1, three: 1 },
  }),
];
