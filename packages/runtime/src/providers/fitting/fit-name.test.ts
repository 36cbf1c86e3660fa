import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitName } from "./fit-name.ts";
import { GEMINI_RULES } from "./rules/gemini.ts";
import { OPENAI_RULES } from "./rules/openai.ts";
import { isFitName } from "./wire-rules.ts";

const anyName = fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.constantFrom("look", "1look", "a b", "a.b", "\uD83D", "\uDE00"));

describe("the name of a tool on a wire", () => {
  it.each(["look", "mcp__notes__add", "a-b_C9"])("stays as it is if the vendor accepts it: %s", (name) => {
    expect(fitName(name, OPENAI_RULES.names)).toBe(name);
    expect(fitName(name, GEMINI_RULES.names)).toBe(name);
  });

  it.each([
    ["$READFILE", /^_READFILE_[a-z2-7]{8}$/],
    ["multi_tool_use.parallel", /^multi_tool_use_parallel_[a-z2-7]{8}$/],
    ["read_file<|channel|>commentary", /^read_file_channel_commentary_[a-z2-7]{8}$/],
    ["", /^x_[a-z2-7]{8}$/],
  ])("keeps its readable part, with a hash of the whole: %j", (name, pattern) => {
    expect(fitName(name, OPENAI_RULES.names)).toMatch(pattern);
  });

  it("begins with a letter or an underscore for Gemini", () => {
    expect(fitName("1look", GEMINI_RULES.names)).toMatch(/^x1look_[a-z2-7]{8}$/);
    expect(fitName("1look", OPENAI_RULES.names)).toBe("1look");
  });

  it("fits each vendor, whatever a model wrote, and two names never become one", () => {
    for (const { names } of [OPENAI_RULES, GEMINI_RULES])
      fc.assert(
        fc.property(fc.uniqueArray(anyName, { maxLength: 20 }), (given) => {
          const fitted = given.map((name) => fitName(name, names));
          expect(fitted.every((name) => isFitName(name, names))).toBe(true);
          expect(new Set(fitted).size).toBe(given.length);
        }),
      );
  });
});
