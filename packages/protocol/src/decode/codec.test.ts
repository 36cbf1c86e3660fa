import { describe, expect, it } from "vitest";
import { DecodeError } from "../errors/decode-error.ts";
import { contentCodec, messageCodec } from "./message-codec.ts";
import { directiveCodec, effectCodec, scopeCodec } from "./effect-codec.ts";
import { durableEventCodec, eventCodec, transientEventCodec } from "./event-codec.ts";
import { environmentSpecCodec } from "./environment-spec-codec.ts";
import { exitReasonCodec, operatorConfigCodec, operatorInputCodec } from "./operator-codec.ts";
import { inboxMessageCodec } from "./inbox-message-codec.ts";
import { permissionPolicyCodec, permissionRuleCodec } from "./permission-codec.ts";
import type { Codec } from "./codec.ts";
import { usageCodec } from "./usage-codec.ts";
import { versioned } from "./versioned.ts";
import { fields, text } from "./codec.ts";

function refusal(codec: Codec<unknown>, value: unknown): { readonly path: string; readonly message: string } {
  try {
    codec.decode(value);
  } catch (error) {
    if (DecodeError.is(error, "invalid-data")) return error.failure;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(value)}`);
}

describe("a refusal", () => {
  it("says what was read, where it is wrong, what was expected and what is there [ET-01, ET-17]", () => {
    expect(
      refusal(messageCodec, {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: 5 },
        ],
      }),
    ).toEqual({
      kind: "invalid-data",
      path: "content[1].text",
      message: "message: content[1].text: expected a string, got 5",
    });
    expect(refusal(operatorInputCodec, { message: [], trigger: "user", metadata: {}, config: { maxCost: "1,5" } }).message).toMatch(
      /^operator input: config.maxCost: "1,5" is no amount/,
    );
    expect(refusal(effectCodec, { type: "directive", directive: { type: "schedule", action: "a", delay: "soon" } })).toMatchObject({
      path: "directive.delay",
      message: expect.stringContaining("30s"),
    });
    expect(refusal(messageCodec, null)).toMatchObject({ path: "", message: "message: expected an object, got null" });
    expect(refusal(messageCodec, { role: "developer", content: [] }).message).toBe(
      'message: role: expected one of system, user, assistant, tool, got "developer"',
    );
    expect(refusal(messageCodec, { role: "user" }).message).toBe("message: content: expected a list, got nothing");
    expect(refusal(contentCodec, [])).toMatchObject({ message: "content: expected a content part, got a list" });
    expect(refusal(contentCodec, { text: "a" }).message).toContain('with a string "type", got nothing');
  });

  it("quotes long values only in part", () => {
    expect(refusal(usageCodec, { inputTokens: "x".repeat(10_000) }).message.length).toBeLessThan(200);
  });
});

describe("a member of an unknown type", () => {
  it("is kept whole as `other`, wherever it stands, and written as it was [GEN-01, LA-08, LA-11]", () => {
    const wire = { "role": "user", "content": [{ type: "hologram", depth: 3 }], "x-note": 1 };
    const message = messageCodec.decode(wire);
    expect(message.content).toEqual([{ type: "other", raw: { type: "hologram", depth: 3 } }]);
    expect(messageCodec.encode(message)).toEqual(wire);
    expect(directiveCodec.decode({ type: "teleport" })).toEqual({ type: "other", raw: { type: "teleport" } });
    expect(inboxMessageCodec.decode({ type: "decision", callId: "c", decision: { type: "defer" } })).toEqual({
      type: "decision",
      callId: "c",
      decision: { type: "other", raw: { type: "defer" } },
    });
  });

  it("may be called like something every object has", () => {
    for (const type of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      expect(contentCodec.decode({ type })).toEqual({ type: "other", raw: { type } });
      expect(exitReasonCodec.decode({ type })).toEqual({ type: "other", raw: { type } });
    }
  });

  it("is told apart from a vendor's block, which stays `other` even when it uses our words", () => {
    for (const part of [
      { type: "other", raw: { type: "image", source: {} } },
      { type: "other", raw: "text" },
      { type: "other", raw: { type: "new" }, providerData: { wire: "w" } },
    ] as const) {
      expect(contentCodec.decode(part)).toBe(part);
      expect(contentCodec.encode(part)).toEqual(part);
    }
  });

  it("of an event keeps its place, so that a watcher can go on after it", () => {
    const raw = { type: "mood", runId: "r", seq: 7, at: 5, mood: "good" };
    const event = eventCodec.decode(raw);
    expect(event).toEqual({ type: "other", raw, runId: "r", seq: 7, at: 5 });
    expect(eventCodec.encode(event)).toBe(raw);
  });

  it("is refused where it would grant rights, move data or take a boundary away", () => {
    expect(refusal(permissionRuleCodec, { pattern: "*", behavior: "allow-ish" }).path).toBe("behavior");
    const bounds = { filesystem: { deniedPaths: ["private"] }, network: { enabled: true }, commands: { denied: ["curl"] } };
    expect(permissionPolicyCodec.decode({ mode: "default", rules: [], bounds })).toEqual({ mode: "default", rules: [], bounds });
    expect(refusal(permissionPolicyCodec, { mode: "default", rules: [], bounds: { network: {} } }).path).toBe("bounds.network.enabled");
    expect(refusal(permissionPolicyCodec, { mode: "yolo", rules: [] }).path).toBe("mode");
    expect(refusal(scopeCodec, { type: "galaxy" }).message).toContain('there is no scope of type "galaxy"');
    expect(refusal(environmentSpecCodec, { isolation: [{ type: "moat" }], credentials: [] })).toMatchObject({
      path: "isolation[0]",
      message: expect.stringContaining('no isolation boundary of type "moat"'),
    });
  });
});

describe("an event", () => {
  const place = { runId: "r", seq: 1, at: 2 };
  it("carries its type as a kebab-case tag beside its fields [GEN-03]", () => {
    const event = { type: "directive", directive: { type: "stop-child", name: "a" }, ...place };
    expect(eventCodec.decode(event)).toBe(event);
    expect(refusal(eventCodec, { Directive: { StopChild: { name: "a" } }, ...place }).message).toContain('a string "type"');
  });

  it("needs a place: of the log when it is durable, between two of them when it is not", () => {
    expect(refusal(eventCodec, { type: "turn-end", turn: 1, runId: "r" }).path).toBe("seq");
    expect(refusal(eventCodec, { type: "text-delta", text: "a", ...place }).path).toBe("after");
    expect(refusal(eventCodec, { type: "turn-end", turn: 1, seq: 1, at: 2 }).path).toBe("runId");
  });

  it("counts ratios from 0 to 1, never in percent [EV-06, EV-09, EV-22]", () => {
    for (const event of [
      { type: "tool-progress", callId: "c", message: "m" },
      { type: "status", status: "s" },
    ]) {
      expect(transientEventCodec.decode({ ...event, ratio: 0.5 })).toMatchObject({ ratio: 0.5 });
      expect(transientEventCodec.decode(event)).toBe(event);
      expect(refusal(transientEventCodec, { ...event, ratio: 50 }).message).toContain("expected a number from 0 to 1, got 50");
    }
    const usage = {
      type: "usage",
      usage: { inputTokens: 1, outputTokens: null, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 },
      cost: "0.1",
      model: "m",
    };
    expect(refusal(durableEventCodec, { ...usage, contextUtilization: 80 }).path).toBe("contextUtilization");
  });

  it("comes in every kind that a live screen needs [EV-01, EV-02, EV-03, EV-04, EV-05, EV-06, EV-09]", () => {
    for (const event of [
      { type: "text-delta", text: "a" },
      { type: "tool-call-start", callId: "c", name: "n" },
      { type: "tool-call-delta", callId: "c", text: '{"a' },
      { type: "tool-call-end", callId: "c" },
      { type: "tool-progress", callId: "c", message: "m", ratio: 1 },
      { type: "status", status: "s", ratio: 0 },
    ]) {
      expect(transientEventCodec.decode(event)).toBe(event);
      for (const field of Object.keys(event).filter((name) => name !== "type" && name !== "ratio"))
        expect(refusal(transientEventCodec, { ...event, [field]: undefined }).path).toBe(field);
    }
    const result = { type: "tool-result", callId: "c", name: "n", output: { any: ["json"] }, isError: false, durationMs: 3 };
    expect(durableEventCodec.decode(result)).toBe(result);
    expect(refusal(durableEventCodec, { ...result, output: undefined }).path).toBe("output");
  });

  it("has money as decimal strings, never as binary floats [LA-07]", () => {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };
    expect(refusal(durableEventCodec, { type: "usage", usage, cost: 0.1, model: "m" }).message).toContain(
      "cost: expected a string, got 0.1",
    );
    expect(durableEventCodec.decode({ type: "usage", usage, cost: null, model: "m" })).toMatchObject({ cost: null });
    expect(refusal(operatorConfigCodec, { maxCost: 5 }).path).toBe("maxCost");
  });
});

describe("old names", () => {
  it("allowed_tools is read as allowedOperators, and both at once are refused [OP-05]", () => {
    expect(operatorConfigCodec.decode({ allowed_tools: ["a"], maxTurns: 2 })).toEqual({ allowedOperators: ["a"], maxTurns: 2 });
    expect(operatorConfigCodec.encode(operatorConfigCodec.decode({ allowed_tools: ["a"] }))).toEqual({ allowedOperators: ["a"] });
    expect(refusal(operatorConfigCodec, { allowed_tools: ["a"], allowedOperators: ["b"] }).message).toContain("allowed_tools");
    expect(refusal(operatorConfigCodec, { allowed_tools: "a" }).path).toBe("allowedOperators");
    expect(operatorConfigCodec.decode({})).toEqual({});
  });

  it("middleware-halt and interceptor-halt are read as halted, with who did it [OP-07, OP-08, OP-09]", () => {
    expect(exitReasonCodec.decode({ type: "middleware-halt", reason: "no" })).toEqual({ type: "halted", by: "middleware", reason: "no" });
    expect(exitReasonCodec.decode({ type: "interceptor-halt", reason: "no" })).toEqual({ type: "halted", by: "rule", reason: "no" });
    expect(exitReasonCodec.encode({ type: "halted", by: "rule", reason: "no" })).toEqual({ type: "halted", by: "rule", reason: "no" });
    expect(refusal(exitReasonCodec, { type: "middleware-halt", reason: 1 }).path).toBe("reason");
  });
});

describe("a content part", () => {
  it("with bytes has exactly one source", () => {
    expect(refusal(contentCodec, { type: "image", mediaType: "image/png" }).message).toContain("has 0");
    expect(refusal(contentCodec, { type: "file", mediaType: "a/b", data: "", url: "" }).message).toContain("has 2");
    expect(refusal(contentCodec, { type: "image", mediaType: "image/png", blob: "sha256:xyz" }).message).toContain("64 hex digits");
  });
});

describe("a versioned payload", () => {
  interface Note {
    readonly v?: number;
    readonly title: string;
  }
  const note = versioned<Note>("note", fields<Pick<Note, "title">>({ title: text() }), [
    ({ name, ...rest }) => ({ ...rest, heading: name }),
    ({ heading, ...rest }) => ({ ...rest, title: heading }),
  ]);

  it("is brought up step by step from whatever version it was written in [LA-08]", () => {
    expect(note.decode({ name: "a", extra: 1 })).toEqual({ v: 3, title: "a", extra: 1 });
    expect(note.decode({ v: 2, heading: "a" })).toEqual({ v: 3, title: "a" });
    const current = { v: 3, title: "a" };
    expect(note.decode(current)).toBe(current);
  });

  it("of a later version is refused with both versions and what to do", () => {
    try {
      note.decode({ v: 4, title: "a" });
      expect.unreachable();
    } catch (error) {
      expect(DecodeError.is(error, "unsupported-version") && error.failure).toEqual({
        kind: "unsupported-version",
        payload: "note",
        version: 4,
        supported: 3,
        message:
          "note: has version 4, and this version of Keelson reads up to 3. Use the version of Keelson that wrote it, or a later one.",
      });
    }
    expect(() => operatorInputCodec.decode({ message: [], trigger: "user", metadata: {}, config: { v: 2 } })).toThrow(
      "operator input: config: has version 2",
    );
  });

  it("has a whole number from 1 for a version, or none", () => {
    for (const v of [0, -1, 1.5, "1", null]) expect(refusal(note, { v, title: "a" }).message).toContain('"v" must be a whole number');
  });
});
