import { AgentError } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";

/** How a conversation is shortened: data, which an agent is defined with and its digest covers. */
export type CompactionStrategy =
  | { readonly type: "sliding-window"; readonly keep: number }
  | { readonly type: "policy-trim"; readonly target: number }
  | { readonly type: "stub-results"; readonly keep: number }
  | { readonly type: "results-first"; readonly then: Exclude<CompactionStrategy, { readonly type: "results-first" }> }
  | {
      readonly type: "summarise" | "extract-state";
      readonly maxTokens: number;
      readonly keep: number;
      readonly instructions?: string | undefined;
    };

/** A strategy that asks the model what the old part comes to. */
export type SummaryStrategy = Extract<CompactionStrategy, { readonly maxTokens: number }>;

export interface SlidingWindowOptions {
  /** So many messages stay, the newest, beside those that stay in any case. */
  readonly keep: number;
}

export interface PolicyTrimOptions {
  /** Messages are left out until the conversation comes to about so many tokens. */
  readonly target: number;
}

export interface StubResultsOptions {
  /** So many results of tools stay whole, the newest. Default 5. */
  readonly keep?: number | undefined;
}

export interface SummariseOptions {
  /** Of the summary. Default 2,048; for `extractState` 4,096. */
  readonly maxTokens?: number | undefined;
  /** So many messages stay as they are, the newest. Default 6. */
  readonly keep?: number | undefined;
  /** What the model is told to do, in place of what it is told by default. */
  readonly instructions?: string | undefined;
}

/**
 * Keeps the newest messages. What is pinned stays, and so do calls that the model has not responded to yet, and the last request of the
 * user; calls and their results stay or go together. So it is with every strategy.
 */
export function slidingWindow(options: SlidingWindowOptions): CompactionStrategy {
  checkOptionNames("slidingWindow", options, { keep: true });
  return checkStrategy({ type: "sliding-window", keep: options.keep });
}

/** Leaves out the oldest messages first: those to be discarded when done, then those to be compressed first, then the others. */
export function policyTrim(options: PolicyTrimOptions): CompactionStrategy {
  checkOptionNames("policyTrim", options, { target: true });
  return checkStrategy({ type: "policy-trim", target: options.target });
}

/** Puts a line in the place of each old result of a tool. */
export function stubResults(options: StubResultsOptions = {}): CompactionStrategy {
  checkOptionNames("stubResults", options, { keep: true });
  return checkStrategy({ type: "stub-results", keep: options.keep ?? 5 });
}

/** Has the model sum up what is old; the summary is pinned, until the next one takes it in. */
export function summarise(options: SummariseOptions = {}): CompactionStrategy {
  checkOptionNames("summarise", options, { maxTokens: true, keep: true, instructions: true });
  return summaryStrategy("summarise", 2048, options);
}

/** Has the model bring what is old into the form of a state: goal, constraints, decisions, facts, what is done, open and next. */
export function extractState(options: SummariseOptions = {}): CompactionStrategy {
  checkOptionNames("extractState", options, { maxTokens: true, keep: true, instructions: true });
  return summaryStrategy("extract-state", 4096, options);
}

/**
 * Shortens old results of tools to a line each, the oldest first, until the conversation comes to two fifths of what it was. If the results are not what
 * makes it long, the other strategy shortens what is left. A compaction that was asked for goes to the other strategy directly.
 * @param then Default: `summarise()`
 */
export function resultsFirst(then: CompactionStrategy = summarise()): CompactionStrategy {
  return checkStrategy({ type: "results-first", then: then as Extract<CompactionStrategy, { readonly then: unknown }>["then"] });
}

function summaryStrategy(type: SummaryStrategy["type"], tokens: number, { maxTokens = tokens, keep = 6, instructions }: SummariseOptions) {
  return checkStrategy({ type, maxTokens, keep, ...(instructions !== undefined && { instructions }) });
}

const MEMBERS: { readonly [Type in CompactionStrategy["type"]]: { readonly [member: string]: number } } = {
  "sliding-window": { keep: 1 },
  "policy-trim": { target: 1 },
  "stub-results": { keep: 0 },
  "results-first": {},
  "summarise": { maxTokens: 1, keep: 0 },
  "extract-state": { maxTokens: 1, keep: 0 },
};

/** @throws AgentError of kind `invalid-option` that names the option, for what is no strategy */
export function checkStrategy<Given>(given: Given, option = "compaction.strategy"): Given & CompactionStrategy {
  const strategy = given as { readonly [member: string]: unknown } | null | undefined;
  const type = typeof strategy === "object" && strategy !== null ? strategy["type"] : undefined;
  const members = typeof type === "string" && Object.hasOwn(MEMBERS, type) ? MEMBERS[type as CompactionStrategy["type"]] : undefined;
  if (strategy === null || strategy === undefined || members === undefined)
    throw invalid(option, "is no strategy: make it with slidingWindow, policyTrim, stubResults, resultsFirst, summarise or extractState");
  for (const [member, least] of Object.entries(members))
    if (!(Number.isSafeInteger(strategy[member]) && (strategy[member] as number) >= least))
      throw invalid(member, `of ${String(type)} must be a whole number of at least ${least}, not ${String(strategy[member])}`);
  if (type === "results-first") {
    if ((strategy["then"] as { readonly type?: unknown } | undefined)?.type === type)
      throw invalid(`${option}.then`, "must be another strategy than resultsFirst");
    checkStrategy(strategy["then"], `${option}.then`);
  }
  const { instructions } = strategy;
  if (instructions !== undefined && (typeof instructions !== "string" || instructions === ""))
    throw invalid("instructions", `of ${String(type)} must be a text, not ${String(instructions)}`);
  return given as Given & CompactionStrategy;
}

function invalid(option: string, problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` });
}
