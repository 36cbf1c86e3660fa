import type { Content, InferEnd, ModelFailure, StopReason } from "@keelson/protocol";

type Ended = Pick<InferEnd, "stopReason" | "rawStopReason" | "providerData"> & { readonly content: readonly Content[] };

interface Origin {
  readonly provider: string;
  readonly model: string;
  /** The model's name in messages. */
  readonly reference: string;
}

/**
 * The failure of a response that came whole and is of no use: it ended for a reason that is none of the good ones of its wire, it
 * is empty where an empty one is no response (`isFirst`), or it ended for a call and has none. `undefined` if the response is good.
 */
export function responseFailure(response: Ended, { provider, model, reference }: Origin, isFirst: boolean): ModelFailure | undefined {
  const { content, stopReason } = response;
  const reason = rawReason(response);
  const shown = JSON.stringify(reason ?? stopReason);
  const problem =
    stopReason === "other"
      ? `ended its response with the reason ${shown}, which is that of no whole response`
      : isFirst && endsByItself(stopReason) && isEmptyContent(content)
        ? `gave an empty response (reason ${shown}): ${content.length > 0 ? "thinking, blank text or unknown parts" : "no text"}, and no call`
        : stopReason === "tool-use" && !content.some(isToolPart)
          ? `ended its response with the reason ${shown}, but the response has no call`
          : undefined;
  if (problem === undefined) return undefined;
  const message = `${reference} ${problem}`;
  return { kind: "invalid-response", message, provider, model, ...(reason !== null && { code: reason }), progress: "begun" };
}

/** True for a call, and for a tool that the vendor ran itself. */
function isToolPart({ type }: Content): boolean {
  return type === "tool-call" || type === "server-tool";
}

/** True if there is nothing that a person or a caller can use: thinking, white space and parts of unknown kinds are no answer. */
export function isEmptyContent(content: readonly Content[]): boolean {
  return content.every((part) => part.type === "other" || isThinkingOrBlank(part));
}

/** True for thinking and for text of nothing but white space. */
export function isThinkingOrBlank(part: Content): boolean {
  return part.type === "thinking" || (part.type === "text" && part.text.trim() === "");
}

/** True if nothing but the model explains an empty response: no filter, limit, pause or stop sequence. */
export function endsByItself(stopReason: StopReason): boolean {
  return stopReason === "end-turn" || stopReason === "tool-use";
}

/** The vendor's own words. The Responses API gives the reason of an `incomplete` response beside its status. */
function rawReason({ rawStopReason, providerData }: Ended): string | null {
  const detail = providerData?.["incompleteReason"];
  return typeof detail === "string" && detail !== "" ? `${rawStopReason ?? "incomplete"}: ${detail}` : rawStopReason;
}
