import { describe, expect, it } from "vitest";
import { readAnswer, readEdited } from "./approval-question.ts";

describe("readAnswer", () => {
  it.each([
    ["y", { type: "allow" }],
    [" YES ", { type: "allow" }],
    ["n", { type: "deny" }],
    ["no  use npm instead", { type: "deny", reason: "use npm instead" }],
    ["a", { type: "allow-always" }],
    ["b wrong project", { type: "abort", reason: "wrong project" }],
  ])("reads %j", (line, decision) => {
    expect(readAnswer("approval", line)).toEqual({ type: "decided", decision });
  });

  it.each([
    ["r", { type: "retry" }],
    ["s it worked", { type: "supply", output: "it worked" }],
    ["fail nobody knows", { type: "fail", reason: "nobody knows" }],
    ["b", { type: "abort" }],
  ])("reads %j about a call that may have run", (line, decision) => {
    expect(readAnswer("decision", line)).toEqual({ type: "decided", decision });
  });

  it("takes nothing unclear for consent", () => {
    for (const line of ["", "ok", "yy", "retry", "constructor", "__proto__"]) expect(readAnswer("approval", line).type).toBe("unclear");
    for (const line of ["", "y", "s"]) expect(readAnswer("decision", line).type).toBe("unclear");
  });

  it("lets arguments be edited as JSON", () => {
    expect(readAnswer("approval", "e")).toEqual({ type: "edit" });
    expect(readEdited('{"command":"npm ci"}')).toEqual({ type: "allow-modified", input: { command: "npm ci" } });
    expect(() => readEdited("{command}")).toThrow(SyntaxError);
  });
});
