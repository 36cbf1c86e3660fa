import { compareUsd, type Authority, type Usd } from "@keelson/protocol";
import { DEFAULT_MAX_ANSWER_BYTES, DEFAULT_MAX_ANSWER_CALLS } from "../../providers/infer-fold.ts";
import { costLimit } from "./cost-limit.ts";

export interface AgentLimits {
  /** Default 50. Retried, repaired and paused rounds do not count. */
  readonly maxTurns?: number | undefined;
  /** All model calls of a run, retries included. Default 4 × `maxTurns`. */
  readonly maxModelCalls?: number | undefined;
  /** US dollars, as a decimal string or a number, of a run and its children. No call starts whose worst case could pass it. */
  readonly maxCost?: Usd | string | number | undefined;
  /** Tokens of input and output, of a run and its children. No call starts whose worst case could pass it. */
  readonly maxTokens?: number | undefined;
  /** Under `maxCost`: whether a model without a known price is called. With `allow` it counts nothing, and the cost is `null`. Default `refuse`. */
  readonly unknownPrice?: "refuse" | "allow" | undefined;
  /**
   * Under `maxCost` and `maxTokens`: what a model call counts as of which the vendor told no usage, because it broke off or its response
   * names none. `reserve`: all that it could have come to. `estimate`: what was sent and seen of it; what was thought unseen may then
   * pass the limit, and the outcome says so. Default `reserve`.
   */
  readonly withoutUsage?: "reserve" | "estimate" | undefined;
  /**
   * The action of a run whose own `maxCost` or `maxTokens` has no room for the next model call. `end`: it ends (`budget-exhausted`). `ask`: it asks
   * a person for more and suspends (`awaiting-approval`) without an answer in this process; the answer raises this limit of this run alone. Default `end`.
   */
  readonly onBudget?: "ask" | "end" | undefined;
  /** Parts of each limit whose using up is told in a `budget` event, once for each. Default 0.5, 0.8 and 1. */
  readonly budgetThresholds?: readonly number[] | undefined;
  readonly maxDurationMs?: number | undefined;
  readonly maxToolCalls?: number | undefined;
  /** Turns in a row of which every tool call failed or was refused: then the run ends (`circuit-breaker`). Default 10. */
  readonly maxFailedTurns?: number | undefined;
  /** Retries of one model call before the fallback model or the end. Default 3. */
  readonly maxRetries?: number | undefined;
  /**
   * The longest wait before a retry. A vendor who asks for a longer one is not waited for: the fallback model is asked, else the run
   * ends and says so. Default 60,000.
   */
  readonly maxRetryDelayMs?: number | undefined;
  /** Responses of a run that may be given back to the model because they do not give the `output`. Default 2; then the run fails. */
  readonly maxRepairs?: number | undefined;
  /** UTF-8 bytes of one response. Default 16 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Tool calls of one response. One that asks for more ends the run (`max-output`). Default 128. */
  readonly maxAnswerCalls?: number | undefined;
  /** Of tools that set none of their own. Default: none. */
  readonly toolTimeoutMs?: number | undefined;
  /** Shared calls that run together at most. Default 16. */
  readonly maxParallelCalls?: number | undefined;
  /** Agents, tasks and jobs that work beside the turns at once. Default 16. */
  readonly maxBackground?: number | undefined;
  /** What one execution of a tool call may ask people. Further questions are cancelled. Default 16. */
  readonly maxQuestionsPerCall?: number | undefined;
  /** How often one execution of a tool call may ask the model. Further ones are refused. Default 16. */
  readonly maxInferencesPerCall?: number | undefined;
}

/** What the value of a limit is: a whole number of at least `least`, a number of ms or bytes, or what budgets check. */
export type LimitKind = { readonly least: number } | "measure" | "budget";

/** A limit that is added needs a line here, so that no other name passes for one. */
export const LIMITS: { readonly [L in keyof Required<AgentLimits>]: LimitKind } = {
  maxTurns: { least: 1 },
  maxModelCalls: { least: 1 },
  maxCost: "budget",
  maxTokens: "budget",
  unknownPrice: "budget",
  withoutUsage: "budget",
  onBudget: "budget",
  budgetThresholds: "budget",
  maxDurationMs: "measure",
  maxToolCalls: { least: 0 },
  maxFailedTurns: { least: 1 },
  maxRetries: { least: 0 },
  maxRetryDelayMs: { least: 0 },
  maxRepairs: { least: 0 },
  maxAnswerBytes: "measure",
  maxAnswerCalls: { least: 1 },
  toolTimeoutMs: "measure",
  maxParallelCalls: { least: 1 },
  maxBackground: { least: 1 },
  maxQuestionsPerCall: { least: 0 },
  maxInferencesPerCall: { least: 0 },
};

/** The limits of a run with every default filled in. */
export interface Limits {
  readonly maxTurns: number;
  readonly maxModelCalls: number;
  readonly maxCost: Usd | undefined;
  readonly maxTokens: number | undefined;
  readonly unknownPrice: "refuse" | "allow";
  readonly withoutUsage: "reserve" | "estimate";
  readonly onBudget: "ask" | "end";
  readonly maxDurationMs: number | undefined;
  readonly maxToolCalls: number | undefined;
  readonly maxFailedTurns: number;
  readonly maxRetries: number;
  readonly maxRetryDelayMs: number;
  readonly maxRepairs: number;
  readonly maxAnswerBytes: number;
  readonly maxAnswerCalls: number;
  readonly toolTimeoutMs: number | undefined;
  readonly maxParallelCalls: number;
  readonly maxBackground: number;
  readonly maxQuestionsPerCall: number;
  readonly maxInferencesPerCall: number;
}

const DEFAULT_MAX_TURNS = 50;
const DEFAULT_MAX_FAILED_TURNS = 10;
const DEFAULT_MAX_RETRIES = 3;
const DEFAULT_MAX_RETRY_DELAY_MS = 60_000;
const DEFAULT_MAX_REPAIRS = 2;
const DEFAULT_MAX_PARALLEL_CALLS = 16;
const DEFAULT_MAX_BACKGROUND = 16;
const DEFAULT_MAX_QUESTIONS_PER_CALL = 16;
const DEFAULT_MAX_INFERENCES_PER_CALL = 16;

/** Limits of the run alone that somebody set, and who is to hear when they come near. */
export interface OwnLimits {
  readonly turns?: number;
  readonly toolCalls?: number;
  readonly modelCalls?: number;
  readonly durationMs?: number;
}

/** The agent's limits with this run's, the tighter of each, and with defaults. */
export function limitsOf(
  own: AgentLimits = {},
  options: Partial<
    Pick<AgentLimits, "maxTurns" | "maxCost" | "maxTokens" | "maxDurationMs" | "unknownPrice" | "withoutUsage" | "onBudget">
  > = {},
  authority?: Authority,
): Limits {
  const maxTurns = Math.min(own.maxTurns ?? DEFAULT_MAX_TURNS, options.maxTurns ?? Number.POSITIVE_INFINITY);
  return {
    maxTurns,
    maxModelCalls: own.maxModelCalls ?? 4 * maxTurns,
    maxCost: lowest([costLimit(own.maxCost), costLimit(options.maxCost), authority?.maxCost]),
    maxTokens: least(own.maxTokens, options.maxTokens),
    unknownPrice: loosened("allow", "refuse", [
      own.unknownPrice,
      options.unknownPrice,
      authority?.maxCost === undefined ? undefined : "refuse",
    ]),
    withoutUsage: loosened("estimate", "reserve", [
      own.withoutUsage,
      options.withoutUsage,
      authority?.maxCost === undefined ? undefined : "reserve",
    ]),
    onBudget: options.onBudget ?? own.onBudget ?? "end",
    maxDurationMs: least(own.maxDurationMs, options.maxDurationMs),
    maxToolCalls: own.maxToolCalls,
    maxFailedTurns: own.maxFailedTurns ?? DEFAULT_MAX_FAILED_TURNS,
    maxRetries: own.maxRetries ?? DEFAULT_MAX_RETRIES,
    maxRetryDelayMs: own.maxRetryDelayMs ?? DEFAULT_MAX_RETRY_DELAY_MS,
    maxRepairs: own.maxRepairs ?? DEFAULT_MAX_REPAIRS,
    maxAnswerBytes: own.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES,
    maxAnswerCalls: own.maxAnswerCalls ?? DEFAULT_MAX_ANSWER_CALLS,
    toolTimeoutMs: own.toolTimeoutMs,
    maxParallelCalls: own.maxParallelCalls ?? DEFAULT_MAX_PARALLEL_CALLS,
    maxBackground: own.maxBackground ?? DEFAULT_MAX_BACKGROUND,
    maxQuestionsPerCall: own.maxQuestionsPerCall ?? DEFAULT_MAX_QUESTIONS_PER_CALL,
    maxInferencesPerCall: own.maxInferencesPerCall ?? DEFAULT_MAX_INFERENCES_PER_CALL,
  };
}

/** Limits of the run alone that somebody chose: nobody is told that a default comes near. */
export function ownLimitsOf({ maxTurns, maxModelCalls }: AgentLimits, limits: Limits): OwnLimits {
  return {
    ...((maxTurns !== undefined || limits.maxTurns !== DEFAULT_MAX_TURNS) && { turns: limits.maxTurns }),
    ...(maxModelCalls !== undefined && { modelCalls: limits.maxModelCalls }),
    ...(limits.maxToolCalls !== undefined && { toolCalls: limits.maxToolCalls }),
    ...(limits.maxDurationMs !== undefined && { durationMs: limits.maxDurationMs }),
  };
}

/** What makes a limit looser needs somebody who says so, and nobody who is strict. */
function loosened<L extends string, S extends string>(loose: L, strict: S, choices: readonly (L | S | undefined)[]): L | S {
  return choices.includes(loose) && !choices.includes(strict) ? loose : strict;
}

function lowest(amounts: readonly (Usd | undefined)[]): Usd | undefined {
  let found: Usd | undefined;
  for (const amount of amounts) if (amount !== undefined && (found === undefined || compareUsd(amount, found) < 0)) found = amount;
  return found;
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}
