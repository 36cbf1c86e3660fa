import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  DECISION_TYPES,
  operatorInput,
  operatorInputCodec,
  operatorOutputCodec,
  permissionRuleCodec,
  PERMISSION_MODES,
  queryCodec,
  sessionCodec,
  sessionMetadataCodec,
  signalCodec,
  textMessage,
  usd,
  UNKNOWN_USAGE,
  waitCodec,
  type ApprovalRequest,
  type CallId,
  type InferRequest,
  type InferResponse,
  type LifecycleEvent,
  type OperatorInput,
  type SessionId,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));

describe("layer 0", () => {
  it("imports nothing but itself: no package, no built-in of a platform [LA-02]", () => {
    const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
      (file) => /(?<!\.test|\.test-d)\.ts$/.test(file) && !file.endsWith(".test-d.ts"),
    );
    expect(files.length).toBeGreaterThan(40);
    for (const file of files) {
      for (const [, specifier] of readFileSync(join(source, file), "utf8").matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm))
        expect(specifier, file).toMatch(/^\.\.?\//);
    }
    expect(JSON.parse(readFileSync(join(source, "../package.json"), "utf8"))).not.toHaveProperty("dependencies");
  });

  it("loads without a platform: none of its modules does anything but define things", async () => {
    const before = Object.keys(globalThis);
    await import("@keelson/protocol");
    expect(Object.keys(globalThis)).toEqual(before);
  });
});

describe("a message between layers", () => {
  it("to an operator is made of what is new and why it comes; nothing else is needed, and what is wrong is named [OP-02, OP-04, OP-05, OP-10]", () => {
    const least: OperatorInput = { message: textMessage("user", "task").content, trigger: "user", metadata: {} };
    expect(operatorInput("task", "user")).toEqual(least);
    expect(operatorInput(least.message, "user")).toEqual(least);
    expect(operatorInputCodec.decode(JSON.parse(JSON.stringify(least)))).toEqual(least);
    for (const trigger of ["user", "task", "signal", "schedule", "system-event", "of my own"])
      expect(operatorInputCodec.decode({ ...least, trigger })).toEqual({ ...least, trigger });
    const rest: Omit<OperatorInput, "message" | "trigger"> = {
      session: "s" as SessionId,
      metadata: { team: "red" },
      config: {
        maxTurns: 3,
        maxCost: usd("0.25"),
        maxDurationMs: 1_000,
        model: "m",
        allowedOperators: ["bash"],
        systemAddendum: "be brief",
      },
    };
    const full = operatorInput("task", "signal", rest);
    expect(full).toEqual({ ...rest, message: least.message, trigger: "signal" });
    expect(operatorInputCodec.decode(JSON.parse(JSON.stringify(full)))).toEqual(full);
    for (const field of ["message", "trigger", "metadata"])
      expect(() => operatorInputCodec.decode({ ...least, [field]: undefined })).toThrow(field);
    expect(() => operatorInputCodec.decode({ ...least, config: { maxTurns: -1 } })).toThrow("config.maxTurns");
  });

  it("from an operator has message, ending, account and effects, all of them [OP-06, OP-11, OP-12]", () => {
    const output = {
      message: [{ type: "text", text: "done" }],
      exitReason: { type: "complete" },
      metadata: {
        tokensIn: 1,
        tokensOut: 2,
        cost: "0.5",
        turnsUsed: 1,
        subDispatches: [{ name: "bash", durationMs: 3, success: true }],
        durationMs: 4,
        untracked: [],
      },
      effects: [{ type: "log", level: "info", message: "m" }],
    };
    expect(operatorOutputCodec.decode(output)).toBe(output);
    for (const field of Object.keys(output)) expect(() => operatorOutputCodec.decode({ ...output, [field]: undefined })).toThrow(field);
    for (const field of Object.keys(output.metadata))
      expect(() => operatorOutputCodec.decode({ ...output, metadata: { ...output.metadata, [field]: undefined } })).toThrow(
        `metadata.${field}`,
      );
  });

  it("to a running workflow is a signal with a payload or a query with parameters [OR-06, LA-06]", () => {
    expect(signalCodec.decode({ kind: "user-message", payload: { text: "hi" } })).toEqual({
      kind: "user-message",
      payload: { text: "hi" },
    });
    expect(signalCodec.decode({ kind: "my-own", payload: null })).toEqual({ kind: "my-own", payload: null });
    expect(() => signalCodec.decode({ kind: "stop" })).toThrow("payload");
    expect(queryCodec.decode({ name: "progress", params: {} })).toEqual({ name: "progress", params: {} });
    expect(() => queryCodec.decode({ name: "progress", params: [] })).toThrow("params: expected an object");
  });

  it("between model and agent is plain data with the vendor's own features in `extra` [PV-02, PV-03, PV-04]", () => {
    const request: InferRequest = {
      model: "m",
      messages: [textMessage("user", "hi")],
      tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }],
      maxTokens: 10,
      temperature: 0,
      system: "s",
      extra: { thinking: { budget: 1 } },
    };
    const response: InferResponse = {
      content: [{ type: "text", text: "a" }],
      toolCalls: [],
      stopReason: "end-turn",
      rawStopReason: "stop",
      usage: UNKNOWN_USAGE,
      model: "m",
      cost: usd("0.01"),
    };
    expect(JSON.parse(JSON.stringify([request, response]))).toEqual([request, response]);
  });

  it("about budgets, compaction and whatever else is worth knowing has one shape for all layers", () => {
    const events: readonly LifecycleEvent[] = [
      { type: "budget", limit: "cost", used: usd("4"), max: usd("5") },
      { type: "compaction", phase: "before", messageCount: 9, tokenCount: null },
      { type: "observable", name: "cache-hit", at: 1, attributes: { ratio: 0.5 } },
    ];
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });
});

describe("a session as data", () => {
  const metadata = {
    id: "s",
    name: "n",
    tags: ["a"],
    agentName: "coder",
    createdAt: 1,
    updatedAt: 2,
    turnCount: 3,
    totalTokens: 4,
    usage: UNKNOWN_USAGE,
    cost: null,
  };
  it("says what it is called, whose it is, when it was, how long and how much [SE-02]", () => {
    expect(sessionMetadataCodec.decode(metadata)).toBe(metadata);
    for (const field of Object.keys(metadata).filter((name) => name !== "name"))
      expect(() => sessionMetadataCodec.decode({ ...metadata, [field]: undefined })).toThrow(field);
  });
  it("is metadata, messages and state [SE-01]", () => {
    const session = { metadata, messages: [textMessage("user", "hi")], state: { plugin: { a: 1 } } };
    expect(sessionCodec.decode(session)).toBe(session);
    for (const field of Object.keys(session)) expect(() => sessionCodec.decode({ ...session, [field]: undefined })).toThrow(field);
  });
});

describe("permissions and approvals as data", () => {
  it("are a mode, a behaviour and rules of a pattern [MC-08, MC-09, MC-10]", () => {
    expect(PERMISSION_MODES).toEqual(["default", "accept-edits", "plan-only", "bypass-all", "deny-unauthorized"]);
    for (const behavior of ["allow", "deny", "ask"])
      expect(permissionRuleCodec.decode({ pattern: "bash(npm*)", behavior })).toEqual({ pattern: "bash(npm*)", behavior });
    expect(() => permissionRuleCodec.decode({ pattern: "bash" })).toThrow("behavior");
  });

  it("ask about an operation with its risk and context, and answer in one of these ways [AV-01, AV-02]", () => {
    const request: ApprovalRequest = {
      type: "approval",
      callId: "c" as CallId,
      token: "t",
      operation: "bash",
      description: "runs a command",
      risk: "high",
      input: { command: "ls" },
      reason: "mode default",
      expiresAt: 5,
      context: { cwd: "/home/ada/project" },
    };
    expect(JSON.parse(JSON.stringify(request))).toEqual(request);
    expect(DECISION_TYPES).toEqual(["allow", "deny", "allow-always", "allow-modified", "abort", "retry", "supply", "fail"]);
    expect(waitCodec.decode({ type: "approval", callId: "c", token: "t", operation: "bash", path: ["child"] })).toHaveProperty(
      "token",
      "t",
    );
  });
});
