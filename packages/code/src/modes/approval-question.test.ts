import { type AlwaysChoice, usd } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { questionPrompt, readAmount, readAnswer, readEdited } from "./approval-question.ts";

const always: readonly AlwaysChoice[] = [{ scope: "exact", rules: ["bash(ls)"] }];
const approval = { type: "approval", always } as const;
const decision = { type: "decision" } as const;

const EXACT = ["y", "yes", "n", "no", "w", "why", "a", "always", "e", "edit", "b", "abort"];

describe("readAnswer", () => {
  it.each([
    ["y", { type: "allow" }],
    [" YES ", { type: "allow" }],
    ["n", { type: "deny" }],
    ["no", { type: "deny" }],
    ["b", { type: "abort" }],
  ])("reads %j", (line, decided) => {
    expect(readAnswer(approval, line)).toEqual({ type: "decided", decision: decided });
  });

  it.each([
    ["r", { type: "retry" }],
    ["fail", { type: "fail" }],
    ["b", { type: "abort" }],
  ])("reads %j about a call that may have run", (line, decided) => {
    expect(readAnswer(decision, line)).toEqual({ type: "decided", decision: decided });
  });

  it("asks for the words of an answer that needs some, and for a choice of what always covers", () => {
    expect(readAnswer(approval, "w")).toEqual({ type: "words", of: "deny" });
    expect(readAnswer(decision, "s")).toEqual({ type: "words", of: "supply" });
    expect(readAnswer(decision, "why")).toEqual({ type: "words", of: "fail" });
    expect(readAnswer(approval, "a")).toEqual({ type: "always" });
    expect(readAnswer(approval, "e")).toEqual({ type: "edit" });
  });

  it("takes nothing unclear for consent", () => {
    for (const line of ["", "ok", "yy", "retry", "constructor", "__proto__"]) expect(readAnswer(approval, line).type).toBe("unclear");
    for (const line of ["", "y", "supply it worked"]) expect(readAnswer(decision, line).type).toBe("unclear");
  });

  it("takes no text for an answer because of how it begins", () => {
    for (const line of ["a better idea: use pnpm instead", "n use npm", "yes please", "y.", "b wrong project"])
      expect(readAnswer(approval, line).type).toBe("unclear");
    fc.assert(
      fc.property(fc.constantFrom(...EXACT), fc.string({ minLength: 1 }), (beginning, rest) => {
        fc.pre(!EXACT.includes((beginning + rest).trim().toLowerCase()));
        expect(readAnswer(approval, beginning + rest).type).toBe("unclear");
      }),
      { numRuns: 2_000 },
    );
  });

  it("asks a person whose budget is met for yes, another amount, no or abort, and for nothing else", () => {
    const question = { type: "approval", budget: { unit: "cost", limit: usd("1"), used: usd("0.9") } } as const;
    expect(questionPrompt(question, 80)).toBe("[y]es an[o]ther amount [n]o, end here a[b]ort › ");
    expect(readAnswer(question, "y")).toEqual({ type: "decided", decision: { type: "allow" } });
    expect(readAnswer(question, "other")).toEqual({ type: "amount" });
    expect(readAnswer(question, "n")).toEqual({ type: "decided", decision: { type: "deny" } });
    for (const line of ["a", "e", "w", "5", "$5", ""]) expect(readAnswer(question, line).type).toBe("unclear");
  });

  it("reads an amount of dollars or of tokens, and refuses everything that is none", () => {
    const read = (line: string) => readAmount({ unit: "cost" }, line);
    expect(read(" $2.50 ")).toEqual({ type: "allow-modified", input: { usd: "2.50" } });
    expect(read("3")).toEqual({ type: "allow-modified", input: { usd: "3" } });
    for (const line of ["", "0", "0.00", "-1", "2,50", "1e9", "2 USD", ".", "much"]) expect(() => read(line), line).toThrow(SyntaxError);
    expect(readAmount({ unit: "tokens" }, "50000")).toEqual({ type: "allow-modified", input: { tokens: 50_000 } });
    for (const line of ["0", "1.5", "50k", "$5"]) expect(() => readAmount({ unit: "tokens" }, line), line).toThrow(SyntaxError);
  });

  it("offers always only where there is something it could allow", () => {
    expect(questionPrompt(approval, 80)).toContain("[a]lways");
    for (const nothing of [{ type: "approval" }, { type: "approval", always: [] }] as const) {
      expect(questionPrompt(nothing, 80)).not.toContain("lways");
      for (const line of ["a", "always"]) expect(readAnswer(nothing, line).type).toBe("unclear");
    }
  });

  it("lets arguments be edited as JSON", () => {
    expect(readEdited('{"command":"npm ci"}')).toEqual({ type: "allow-modified", input: { command: "npm ci" } });
    expect(readEdited('{"id":1917043659912705296}')).toEqual({ type: "allow-modified", input: { id: "1917043659912705296" } });
    expect(() => readEdited("{command}")).toThrow(SyntaxError);
  });
});

describe("questionPrompt", () => {
  it("leaves room for the answer in a narrow terminal", () => {
    for (const question of [approval, decision])
      for (const columns of [20, 39, 79, 119]) expect(displayWidth(questionPrompt(question, columns))).toBeLessThanOrEqual(columns - 4);
  });
});
