import type { ApprovalRequest, Decision, JsonValue } from "@keelson/protocol";

/** What a typed answer means: a decision, the wish to edit the arguments, or nothing that is known. */
export type Answer =
  | { readonly type: "decided"; readonly decision: Decision }
  | { readonly type: "edit" }
  | { readonly type: "unclear"; readonly hint: string };

/** The choices, as they are shown. */
export function questionPrompt(question: ApprovalRequest["type"]): string {
  return question === "approval" ? "[y]es [n]o [a]lways [e]dit a[b]ort › " : "[r]etry [s]upply its output [f]ail a[b]ort › ";
}

/** Reads an answer: a letter or its word, for a refusal with a reason after it (`n use npm instead`). */
export function readAnswer(question: ApprovalRequest["type"], line: string): Answer {
  const [word = "", ...rest] = line.trim().split(/\s+/);
  const reason = rest.join(" ");
  const decided = (decision: Decision): Answer => ({ type: "decided", decision });
  const because = reason === "" ? {} : { reason };
  const known = question === "approval" ? APPROVAL : UNKNOWN_STATE;
  switch (known[word.toLowerCase()]) {
    case "allow":
      return decided({ type: "allow" });
    case "deny":
      return decided({ type: "deny", ...because });
    case "always":
      return decided({ type: "allow-always" });
    case "edit":
      return { type: "edit" };
    case "abort":
      return decided({ type: "abort", ...because });
    case "retry":
      return decided({ type: "retry" });
    case "supply":
      return reason === ""
        ? { type: "unclear", hint: "write the output after it: s <output>" }
        : decided({ type: "supply", output: reason });
    case "fail":
      return decided({ type: "fail", ...because });
    default:
      return {
        type: "unclear",
        hint: question === "approval" ? "answer y, n (with a reason if you like), a, e or b" : "answer r, s <output>, f or b",
      };
  }
}

/** Arguments that a person edited. @throws SyntaxError when they are no JSON */
export function readEdited(line: string): Decision {
  return { type: "allow-modified", input: JSON.parse(line) as JsonValue };
}

const APPROVAL: { readonly [word: string]: string } = {
  y: "allow",
  yes: "allow",
  n: "deny",
  no: "deny",
  a: "always",
  always: "always",
  e: "edit",
  edit: "edit",
  b: "abort",
  abort: "abort",
};
const UNKNOWN_STATE: { readonly [word: string]: string } = {
  r: "retry",
  retry: "retry",
  s: "supply",
  supply: "supply",
  f: "fail",
  fail: "fail",
  b: "abort",
  abort: "abort",
};
