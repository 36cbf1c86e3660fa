import { AgentError, type CallId, type RunId, type SessionId } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEphemeralApprovalKeys, type ApprovalKeys } from "../../turn/approval-keys.ts";
import { createApprovalTokens } from "./approval-token.ts";

const question = {
  runId: "run-1" as RunId,
  session: "s1" as SessionId,
  callId: "c_1" as CallId,
  tool: "bash",
  toolVersion: "v1",
  argumentsDigest: "sha256:00",
  question: "approval" as const,
  expiresAt: 2_000,
  place: "t1/call/c_1/question",
};
const key = (id: string, fill: number) => ({ id, secret: new Uint8Array(32).fill(fill) });
const keys: ApprovalKeys = { current: key("k1", 1) };
const tokensAt = (now: number, withKeys = keys) => createApprovalTokens({ keys: withKeys, now: () => now });

function refusal(token: string, tokens = tokensAt(1_000)): string {
  try {
    tokens.verify(token);
  } catch (error) {
    if (AgentError.is(error, "invalid-token")) return error.failure.reason;
    throw error;
  }
  return "accepted";
}

describe("an approval token", () => {
  it("gives back every claim it was made of, and a nonce", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(
        text,
        text,
        text,
        text,
        text,
        fc.constantFrom("approval" as const, "decision" as const),
        fc.integer({ min: 1, max: 9 }),
        (runId, session, callId, tool, argumentsDigest, type, attempt) => {
          const { place, ...rest } = question;
          const claims = {
            ...rest,
            runId: runId as RunId,
            session: session as SessionId,
            callId: callId as CallId,
            tool,
            argumentsDigest,
            question: type,
            attempt,
          };
          expect(tokensAt(0).verify(tokensAt(0).issue({ ...claims, place }))).toEqual({
            ...claims,
            nonce: expect.stringMatching(/^[\w-]{22}$/),
          });
        },
      ),
    );
  });

  it("is the same for the same question, so that a replay finds the one it gave out", () => {
    expect(tokensAt(5).issue(question)).toBe(tokensAt(9_999).issue(question));
  });

  it("has a nonce of its own for every run, call, question, attempt and place", () => {
    const nonce = (changed: object) => tokensAt(0).verify(tokensAt(0).issue({ ...question, ...changed })).nonce;
    const nonces = [
      {},
      { runId: "run-2" },
      { callId: "c_2" },
      { question: "decision" },
      { attempt: 2 },
      { place: "t1/call/c_1/misfit" },
    ].map(nonce);
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(nonce({ expiresAt: 3_000 })).toBe(nonces[0]);
  });

  it("can be put on a command line as it is", () => {
    expect(tokensAt(0).issue(question)).toMatch(/^[\w.-]+$/);
  });

  it("is refused as expired after its time, and not at it", () => {
    const token = tokensAt(0).issue(question);
    expect(refusal(token, tokensAt(2_000))).toBe("accepted");
    expect(refusal(token, tokensAt(2_001))).toBe("expired");
  });

  it("is refused as forged when any of its characters was changed", () => {
    const token = tokensAt(0).issue(question);
    fc.assert(
      fc.property(fc.nat({ max: token.length - 1 }), fc.constantFrom("A", "b", "7", "_", "-"), (index, character) => {
        fc.pre(token[index] !== character && token[index] !== ".");
        expect(["forged", "malformed"]).toContain(refusal(token.slice(0, index) + character + token.slice(index + 1)));
      }),
      { numRuns: 500 },
    );
  });

  it("is refused as forged when the claims of one token carry the signature of another", () => {
    const [a, b] = [
      tokensAt(0).issue(question).split("."),
      tokensAt(0)
        .issue({ ...question, argumentsDigest: "sha256:11" })
        .split("."),
    ];
    expect(refusal([...b.slice(0, 3), a[3]].join("."))).toBe("forged");
  });

  it("is refused as malformed when it is no such token at all, whatever the text", () => {
    for (const text of [
      "",
      ".",
      "...",
      "keelson-approval-1",
      "keelson-approval-1.k1.x",
      "keelson-approval-2.k1.a.b",
      `${tokensAt(0).issue(question)}.x`,
    ]) {
      expect(refusal(text), text).toBe("malformed");
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(refusal(text)).not.toBe("accepted");
      }),
    );
  });

  it("outlives the rotation of its key, and is refused once the key is dropped", () => {
    const token = tokensAt(0).issue(question);
    const rotated: ApprovalKeys = { current: key("k2", 2), previous: [keys.current] };
    expect(tokensAt(0, rotated).verify(token)).toEqual(tokensAt(0).verify(token));
    expect(tokensAt(0, rotated).issue(question)).toContain(".k2.");
    expect(refusal(token, tokensAt(0, { current: key("k2", 2) }))).toBe("forged");
  });

  it("of one process is forged in another when the keys are ephemeral", () => {
    expect(refusal(tokensAt(0, createEphemeralApprovalKeys()).issue(question), tokensAt(0, createEphemeralApprovalKeys()))).toBe("forged");
  });
});

describe("approval keys", () => {
  it("are refused when short, badly named or named twice", () => {
    const problem = (bad: ApprovalKeys) => () => tokensAt(0, bad);
    expect(problem({ current: { id: "k", secret: new Uint8Array(31) } })).toThrow(/"k" has 31 bytes: use at least 32/);
    expect(problem({ current: key("a.b", 1) })).toThrow(/id of an approval key is "a.b"/);
    expect(problem({ current: key("k", 1), previous: [key("k", 2)] })).toThrow(/Two approval keys have the id "k"/);
  });
});
