import type { RecordData } from "../../session/record-data.ts";
import type { Message, StopReason, ToolCallPart } from "@keelson/protocol";
import { isEmptyContent } from "../../providers/response-failure.ts";
import { runOf, type Loop } from "./loop.ts";

/** What an inference gave, as the log keeps it beside the message. */
export interface ModelResponse {
  /** Counts the model calls of the turn from 0, retries included. */
  readonly modelCall: number;
  readonly message: Message;
  readonly calls: readonly ToolCallPart[];
  readonly stopReason: StopReason;
  readonly overflowed: boolean;
}

/** The response that the log holds for a model call of the open turn. */
export function responseFrom(loop: Loop, data: RecordData["answer"], modelCall: number): ModelResponse {
  const { execution } = loop;
  const turn = `t${runOf(loop).turn}`;
  const message = execution.lookup(`${turn}/infer/${modelCall}/message`, "message")?.data.message as Message;
  return {
    modelCall,
    message,
    calls: message.content.filter((part) => part.type === "tool-call"),
    stopReason: data.stopReason,
    overflowed: data.overflowed === true,
  };
}

/** Its end is not the model's own. */
export function cutShort({ stopReason }: ModelResponse): boolean {
  return stopReason === "content-filter" || stopReason === "max-tokens";
}

export function saysNothing(response: ModelResponse): boolean {
  return isEmptyContent(response.message.content);
}
