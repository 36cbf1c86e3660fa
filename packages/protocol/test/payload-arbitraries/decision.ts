import fc from "fast-check";
import type { Decision } from "@keelson/protocol";
import { few, some } from "./combinators.ts";
import { type Members, oneMember } from "./one-member.ts";
import { json, text } from "./values.ts";

const by = { by: text };

export const decision: fc.Arbitrary<Decision> = oneMember<Decision>({
  "allow": some({}, by),
  "deny": some({}, { ...by, reason: text }),
  "allow-always": some({}, { ...by, rules: few(text) }),
  "allow-modified": some({ input: json }, by),
  "abort": some({}, { ...by, reason: text }),
  "retry": some({}, by),
  "supply": some({ output: json }, by),
  "fail": some({}, { ...by, reason: text }),
} satisfies Members<Decision>);
