import type { JsonValue, Orchestrator, Query, RunId } from "@keelson/protocol";
import { canonicalJson } from "../../json/index.ts";
import { systemClock, type Clock } from "../../platform/clock.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { POSITIVE_OPTION } from "../../json/option-rules.ts";

export interface ObserveOptions {
  /** What is asked. Default: `status`. */
  readonly query?: Query | undefined;
  /** How long between two questions. Default 1 s. */
  readonly everyMs?: number | undefined;
  /** Ends the observation, and nothing else. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Watches a dispatch by questions, and gives each answer that differs from the one before, the last once it is over. It influences
 * nothing: leaving does not cancel, and that the dispatch failed is told to whoever attaches to it. Rejects with `OrchestratorError`
 * for an id that is not known.
 */
export async function* observe(
  orchestrator: Pick<Orchestrator, "attach" | "query">,
  id: RunId | string,
  options: ObserveOptions = {},
): AsyncGenerator<JsonValue, void, undefined> {
  checkOptionNames("observe", options, { query: true, everyMs: POSITIVE_OPTION, signal: true, clock: true });
  const { query = { name: "status", params: {} }, everyMs = 1000, signal, clock = systemClock } = options;
  let isOver = false;
  let wake = (): void => {};
  const end = (): void => {
    isOver = true;
    wake();
  };
  orchestrator.attach(id as RunId).then(end, end);
  const stop = (): void => wake();
  signal?.addEventListener("abort", stop);
  let seen: string | undefined;
  try {
    while (!signal?.aborted) {
      const isLast = isOver;
      const answer = await orchestrator.query(id, query);
      const text = canonicalJson(answer);
      if (text !== seen) yield answer;
      seen = text;
      if (isLast || signal?.aborted) return;
      if (isOver) continue;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(everyMs, resolve, { keepAlive: false });
        wake = () => {
          cancel();
          resolve();
        };
        if (isOver || signal?.aborted) wake();
      });
    }
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
