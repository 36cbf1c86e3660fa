import type { CallBatch } from "@keelson/protocol";
import { runOf, type Loop } from "../turn/loop.ts";
import type { RunningCall } from "../turn/pending-call.ts";
import { contextTokens } from "./context-tokens.ts";

/** Describes a batch of calls to their tools. The tokens are estimated when the first tool reads `contextLeft`, once for the batch. */
export function callBatch(loop: Loop, calls: readonly RunningCall[]): CallBatch {
  let left: number | undefined;
  let isEstimated = false;
  return {
    get contextLeft() {
      if (!isEstimated) left = contextLeft(loop);
      isEstimated = true;
      return left;
    },
    reads: calls.reduce((reads, { tool }) => (tool.effect === "read" ? reads + 1 : reads), 0),
  };
}

function contextLeft(loop: Loop): number | undefined {
  const { contextWindow } = loop.models.resolve(runOf(loop).model).facts;
  return contextWindow === undefined ? undefined : Math.max(0, contextWindow - contextTokens(loop));
}
