import type { InferRequest, Message, Usage } from "@keelson/protocol";
import { MESSAGE_TOKENS, weigh, type Weight } from "./message-weight.ts";
import { readsUnseen, type TokenTarget } from "./token-bound.ts";
import { countPieces } from "./token-count/count-pieces.ts";
import { type Expected, learnHiddenTokens, type Observation, originOf, type RequestOrigin } from "./token-count/hidden-tokens.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface TokenEstimate {
  readonly tokens: number;
  /** About how far off it may be. */
  readonly margin: number;
  /** Reports of like requests stand behind it: nine of ten such estimates are within a tenth. */
  readonly calibrated: boolean;
  /** How many tokens the vendor seems to make of what is taken for one here. What is left over of `tokens` is what he adds. */
  readonly ratio: number;
}

/**
 * Estimates how many input tokens a vendor will count, and learns from what he did count. What he adds to each prompt, and how he
 * writes tools, is told by no request: so an estimate starts from the report of a like one, at best of an earlier request of the
 * same conversation, and judges only what is new since. Where there is none, it goes by what was added to other requests: by the
 * same model, by others of its line or its host.
 */
export interface TokenCalibration {
  estimate(request: InferRequest, target: TokenTarget): TokenEstimate;
  /** What was counted for a request. Its messages must not change afterwards; more may follow them. */
  report(request: InferRequest, target: TokenTarget, usage: Usage): void;
}

export interface CalibrationOptions {
  /** Reports kept for each model. Default 64. */
  readonly maxReports?: number | undefined;
}

interface Report {
  readonly system: string;
  readonly tools: InferRequest["tools"];
  readonly output: InferRequest["output"];
  readonly thinking: InferRequest["thinking"];
  readonly length: number;
  readonly last: Message | undefined;
  readonly weight: Weight;
  readonly inputTokens: number;
  /** Of the response, without what was only thought; `null` when not told, or when it thought. */
  readonly responseTokens: number | null;
  /** Absent where something in it is counted otherwise by each vendor. */
  readonly observation: Observation | undefined;
}

interface Knowledge {
  readonly reports: Report[];
  /** Tokens counted, and expected, for what was new between reports of one conversation. */
  counted: number;
  expected: number;
}

/** How wrong the judgement of new text may be. */
const TEXT_ERROR = 0.15;
const MESSAGE_ERROR = 1;
const ENOUGH = 0.15;
/** As much as a report must show before the ratio moves. */
const LEAST_NEWS = 20;
/** What the ratio is at first, in tokens of evidence. */
const PRIOR = 300;
/** A vendor may count any image or file as this, or as nothing. */
const OPAQUE_ERROR = 1500;

export function calibrateTokens(options: CalibrationOptions = {}): TokenCalibration {
  checkOptionNames("calibrateTokens", options, { maxReports: true });
  const { maxReports = 64 } = options;
  const known = new Map<string, Knowledge>();
  let expectedOf: ((origin: RequestOrigin) => Expected) | undefined;

  /** What requests from here come to, as far as reports tell; learnt anew after each of them that is asked about. */
  function expected(request: InferRequest, target: TokenTarget): Expected {
    expectedOf ??= learnHiddenTokens([...known.values()].flatMap(({ reports }) => reports.flatMap(({ observation }) => observation ?? [])));
    return expectedOf(originOfRequest(request, target));
  }

  function anchorFor(reports: readonly Report[], request: InferRequest): { readonly report: Report; readonly prefix: boolean } | undefined {
    const same = reports.filter(
      (report) =>
        report.system === (request.system ?? "") &&
        report.tools === request.tools &&
        report.output === request.output &&
        report.thinking === request.thinking,
    );
    const prefix = same
      .filter(({ length, last }) => length <= request.messages.length && request.messages[length - 1] === last)
      .reduce<Report | undefined>((best, each) => (best === undefined || each.length >= best.length ? each : best), undefined);
    if (prefix !== undefined) return { report: prefix, prefix: true };
    const report = same.at(-1);
    return report === undefined ? undefined : { report, prefix: false };
  }

  return {
    estimate(request, target) {
      const knowledge = known.get(target.model);
      const ratio = knowledge === undefined ? 1 : (knowledge.counted + PRIOR) / (knowledge.expected + PRIOR);
      const anchor = knowledge && anchorFor(knowledge.reports, request);
      if (anchor === undefined || readsUnseen(request.extra, target.model)) return unanchored(request, target, expected(request, target));
      const { report, prefix } = anchor;
      const fresh = request.messages.slice(prefix ? report.length : 0);
      const news = weigh(fresh);
      let tokens = report.inputTokens + ratio * news.tokens + MESSAGE_TOKENS * news.messages;
      let margin = TEXT_ERROR * news.tokens + MESSAGE_ERROR * news.messages + OPAQUE_ERROR * news.opaque;
      if (!prefix) {
        tokens -= ratio * report.weight.tokens + MESSAGE_TOKENS * report.weight.messages;
        margin += TEXT_ERROR * report.weight.tokens + MESSAGE_ERROR * report.weight.messages + OPAQUE_ERROR * report.weight.opaque;
      } else if (fresh[0]?.role === "assistant") {
        const response = weigh(fresh.slice(0, 1));
        const judged = ratio * response.tokens;
        if (report.responseTokens === null) margin += OPAQUE_ERROR;
        // His own count of the response, unless it was changed since, or is of another run from the same beginning.
        else if (report.responseTokens >= judged / 1.5 - 20 && report.responseTokens <= 1.5 * judged + 20) {
          tokens += report.responseTokens - judged;
          margin -= 0.8 * TEXT_ERROR * response.tokens;
        }
      }
      return { tokens: Math.max(0, Math.round(tokens)), margin: Math.ceil(margin), calibrated: margin <= ENOUGH * tokens, ratio };
    },

    report(request, target, { inputTokens, outputTokens, reasoningTokens }) {
      if (inputTokens === null || inputTokens <= 0 || readsUnseen(request.extra, target.model)) return;
      let knowledge = known.get(target.model);
      if (knowledge === undefined) {
        knowledge = { reports: [], counted: 0, expected: 0 };
        known.set(target.model, knowledge);
      }
      const anchor = anchorFor(knowledge.reports, request);
      if (anchor?.prefix === true) learn(knowledge, anchor.report, request, inputTokens);
      const { messages } = request;
      knowledge.reports.push({
        system: request.system ?? "",
        tools: request.tools,
        output: request.output,
        thinking: request.thinking,
        length: messages.length,
        last: messages.at(-1),
        weight: anchor?.prefix === true ? sum(anchor.report.weight, weigh(messages.slice(anchor.report.length))) : weigh(messages),
        inputTokens,
        responseTokens: (reasoningTokens ?? 0) > 0 ? null : outputTokens,
        observation: observationOf(request, target, inputTokens),
      });
      expectedOf = undefined;
      if (knowledge.reports.length > maxReports) knowledge.reports.shift();
    },
  };
}

/** Without a report of a like request nobody knows what is added. */
function unanchored(request: InferRequest, target: TokenTarget, { ratio, hidden }: Expected): TokenEstimate {
  const visible = visibleTokens(request, target);
  const { opaque } = weigh(request.messages);
  const unseen = hasTools(request) || request.output !== undefined ? 600 : 100;
  const margin = Math.ceil(TEXT_ERROR * visible) + unseen + OPAQUE_ERROR * opaque;
  return { tokens: Math.max(0, Math.round(ratio * visible + hidden)), margin, calibrated: false, ratio };
}

function visibleTokens(request: InferRequest, target: TokenTarget): number {
  return countPieces(request, target, undefined).reduce((sum, { tokens }) => sum + tokens, 0);
}

function observationOf(request: InferRequest, target: TokenTarget, counted: number): Observation | undefined {
  if (weigh(request.messages).opaque > 0) return undefined;
  return { origin: originOfRequest(request, target), visible: visibleTokens(request, target), counted };
}

function originOfRequest(request: InferRequest, target: TokenTarget): RequestOrigin {
  return originOf(target, { tools: hasTools(request), output: request.output !== undefined });
}

function hasTools({ tools }: InferRequest): boolean {
  return tools !== undefined && tools.length > 0;
}

function learn(knowledge: Knowledge, before: Report, request: InferRequest, inputTokens: number): void {
  const { tokens, messages, opaque } = weigh(request.messages.slice(before.length));
  if (tokens < LEAST_NEWS || opaque > 0) return;
  // What one report tells is bounded, so that what a vendor added this once does not spoil the rest.
  const counted = inputTokens - before.inputTokens - MESSAGE_TOKENS * messages;
  knowledge.counted += Math.max(0.3 * tokens, Math.min(3 * tokens, counted));
  knowledge.expected += tokens;
}

function sum(a: Weight, b: Weight): Weight {
  return { tokens: a.tokens + b.tokens, messages: a.messages + b.messages, opaque: a.opaque + b.opaque };
}
