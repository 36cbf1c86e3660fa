import type { BudgetUnit } from "./budget.ts";
import type { CallId, RunId, SessionId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Usd } from "./usd.ts";

/** How much harm a call can do. Ordered: `none` (reads) < `low` (reversible writes) < `medium` (deletions, overwrites) < `high` (system changes, processes) < `critical` (irreversible). */
export type RiskLevel = "none" | "low" | "medium" | "high" | "critical";

export const RISK_LEVELS: readonly RiskLevel[] = ["none", "low", "medium", "high", "critical"];

/** Negative when `a` is less risky than `b`. */
export function compareRisk(a: RiskLevel, b: RiskLevel): number {
  return RISK_LEVELS.indexOf(a) - RISK_LEVELS.indexOf(b);
}

/** A question to a person: may this call run, or what became of it? */
export type ApprovalRequest = {
  /**
   * `approval`: may it run? `decision`: it may have run already, and nobody knows (the unknown state); or, with `asked`, the call asks
   * something while it runs.
   */
  readonly type: "approval" | "decision";
  readonly callId: CallId;
  /** Signed, single-use, expiring; bound to run, call, tool version and digest of the arguments. */
  readonly token: string;
  /** The resolved name of the tool. */
  readonly operation: string;
  readonly description: string;
  readonly risk: RiskLevel;
  /** The final arguments, after repair, transforms and hooks. */
  readonly input: JsonValue;
  /** The reason of the gate that asks, in the words of permissions: modes, effects, risks and rules. */
  readonly reason: string;
  /** One sentence for a person: what would happen, and why it is asked about. Absent: `reason` says it. */
  readonly summary?: string;
  /** The commands of a command line that starts several. */
  readonly parts?: readonly AskedPart[];
  /** Unix ms after which the token is refused. */
  readonly expiresAt: number;
  /** What `allow-always` can allow, narrowest first. Absent or empty: nothing but this one call may be allowed. */
  readonly always?: readonly AlwaysChoice[];
  /** What the call asks while it runs. */
  readonly asked?: AskedQuestion;
  /** The limit of the run that is met. Then no call asks: `callId` is the id of the question, and `input` the amount that `allow` adds to the limit. */
  readonly budget?: AskedBudget;
  readonly context?: JsonObject;
};

/**
 * A limit of a run that is met, where `limits.onBudget` is `ask`. `allow` adds the amount of `input` to it, `allow-modified` another one
 * (`{ usd: "2.50" }` or `{ tokens: 50000 }`), `deny` ends the run (`budget-exhausted`). Only this limit is raised, none of a run above it
 * and none that is shared.
 */
export type AskedBudget = {
  readonly unit: Extract<BudgetUnit, "cost" | "tokens">;
  readonly limit: Usd | number;
  readonly used: Usd | number;
};

/** A part of a call that is asked about, as far as reading its arguments shows it. */
export type AskedPart = {
  readonly text: string;
  /** The reason why it is asked about. Absent: it would run unasked. */
  readonly why?: string;
};

/** What a call asks a person while it runs: text of the tool, or of whoever it speaks for. Nobody here vouches for it. */
export type AskedQuestion = {
  readonly message: string;
  /** Who asks, where that is not the tool itself. */
  readonly from?: string;
  /** JSON Schema of the value to `supply`. Absent: `allow` is a yes. */
  readonly schema?: JsonObject;
  /** A page where the person does something first; `allow` says that it was done. */
  readonly url?: string;
  /** Why the last answer could not be used. */
  readonly issues?: readonly string[];
};

/** A question that nobody has answered yet, and whose it is. */
export type OpenQuestion = ApprovalRequest & {
  /** The session that asks: its inbox takes the decision. */
  readonly session: SessionId;
  readonly runId: RunId;
  /** The session to resume once it is decided: where a child asks, that of the outermost run above it. */
  readonly rootSession: SessionId;
};

/** What somebody who answers `allow-always` allows from then on: patterns of allow rules, shown before they are chosen. */
export type AlwaysChoice = {
  /**
   * `exact`: these very arguments. `command`: this program and subcommand. `tool`: every call of the tool. `outside`: this command outside of the
   * sandbox. `host`: these hosts for all commands. `port`: these ports on this machine. `folder`: edits of files in this folder. `edits`: edits of all
   * files that are not sensitive. `reveal`: these hidden files for all commands. `lose`: the loss of these files by all commands.
   */
  readonly scope: "exact" | "command" | "tool" | "outside" | "host" | "port" | "folder" | "edits" | "reveal" | "lose";
  /** One for each part of the call that asks. */
  readonly rules: readonly string[];
};

/**
 * What a person, a callback or a rule answers. The first five answer an `approval`, the last three (and `abort`) a
 * `decision`; what a call asked while it runs is answered by `supply`, by `allow` where a yes is enough, by `deny` and `abort`.
 * `by` is a claim that the embedding program vouches for.
 */
export type Decision = { readonly by?: string } & (
  | { readonly type: "allow" }
  | { readonly type: "deny"; readonly reason?: string }
  /**
   * This call, and in this session every later one that these patterns of allow rules cover. Default: the first choice that the
   * request offered. They never cover what a deny or ask rule names.
   */
  | { readonly type: "allow-always"; readonly rules?: readonly string[] }
  /** Run with these arguments; they are validated again. A limit that is met is raised by this amount. */
  | { readonly type: "allow-modified"; readonly input: JsonValue }
  /** End the whole run. */
  | { readonly type: "abort"; readonly reason?: string }
  /** Run it again, with the same idempotency key. */
  | { readonly type: "retry" }
  /** It did run: this was its output. Or the value that a call asked for. */
  | { readonly type: "supply"; readonly output: JsonValue }
  /** Tell the model that it failed. */
  | { readonly type: "fail"; readonly reason?: string }
  /** From a later version: it answers nothing here. */
  | { readonly type: "other"; readonly raw: JsonValue }
);

export const DECISION_TYPES: readonly Decision["type"][] = [
  "allow",
  "deny",
  "allow-always",
  "allow-modified",
  "abort",
  "retry",
  "supply",
  "fail",
];

/** Answers in process. `undefined`: no answer here; the run suspends. A thrown value is `panic` and ends the run. */
export type Approver = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => Promise<Decision | undefined> | Decision | undefined;
