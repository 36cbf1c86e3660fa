import type { OpenQuestion } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { waitingLines } from "../render/waiting-lines.ts";
import { openQuestions, tokenNamed } from "./waiting-questions.ts";

const question = (token: string, more: Partial<OpenQuestion> = {}): OpenQuestion =>
  ({
    type: "approval",
    callId: "c1",
    token,
    risk: "high",
    reason: "it asks",
    operation: "bash",
    input: { command: "npm publish" },
    session: "s1",
    runId: "r1",
    rootSession: "s1",
    ...more,
  }) as OpenQuestion;
const runner = (...questions: readonly OpenQuestion[]) => ({ approvals: { list: async () => questions } });

describe("the questions that wait", () => {
  it("have short ids that name their tokens", async () => {
    const from = runner(question("token-one"), question("token-two"));
    const [one, two] = await openQuestions(from);
    expect(one?.id).toMatch(/^[0-9a-f]{8}$/);
    expect(one?.id).not.toBe(two?.id);
    expect(await tokenNamed(one?.id ?? "", from)).toBe("token-one");
    expect(await tokenNamed((two?.id ?? "").toUpperCase(), from)).toBe("token-two");
    expect(await tokenNamed("token-two", from)).toBe("token-two");
    await expect(tokenNamed("00000000", from)).rejects.toThrow(/no open question has the id 00000000/);
  });

  it("are refused by an id that several begin with", async () => {
    const same = runner(question("a"), question("a"));
    await expect(tokenNamed((await openQuestions(runner(question("a"))))[0]?.id ?? "", same)).rejects.toThrow(/2 questions/);
  });

  it("are listed with what they ask, their session and how to decide, without signs that a terminal obeys", async () => {
    const style = createStyle(false);
    const lines = waitingLines(await openQuestions(runner(question("a", { summary: "`npm publish`\u001b[2J is not allowed" }))), {
      style,
      columns: 80,
      command: "keelson",
      now: 0,
    });
    expect(lines).toEqual([
      expect.stringMatching(/^[0-9a-f]{8} {2}bash .*npm publish/),
      "  `npm publish` is not allowed",
      "  session s1",
      expect.stringMatching(/^Decide with: keelson approve [0-9a-f]{8} allow$/),
    ]);
    const plan = question("a", {
      type: "decision",
      operation: "present_plan",
      input: { plan: "# Sum\u001b[2J\n1. Read" },
      asked: { message: "Carry out this plan?", schema: {} },
    });
    expect(waitingLines(await openQuestions(runner(plan)), { style, columns: 80, command: "keelson", now: 0 })).toEqual([
      expect.stringMatching(/^[0-9a-f]{8} {2}present_plan # Sum$/),
      "  Carry out this plan?",
      "  │ # Sum",
      "  │ 1. Read",
      "  session s1",
      expect.stringMatching(/^Decide with: keelson approve [0-9a-f]{8} supply '\{"decision":"accept"\}'$/),
    ]);
    expect(waitingLines([], { style, columns: 80, command: "keelson", now: 0 })).toEqual(["Nothing waits for a decision."]);
  });
});
