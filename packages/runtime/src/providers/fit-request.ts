import { type Content, type EffortLevel, type InferRequest, type Message, ModelError } from "@keelson/protocol";
import { mediaText, outputParts } from "./history.ts";
import type { ModelFacts } from "./model-facts.ts";

/** Who is asked, for messages. */
export interface RequestedModel {
  readonly provider: string;
  readonly model: string;
}

/**
 * The request as this model can take it. Images that the model cannot see are named in words where they are history, shown to
 * another model before; what is asked of it now and cannot be had is refused, before anything is sent. What is not known of a
 * model is not held against it.
 * @throws ModelError of kind `invalid-request` that says what to change
 */
export function fitRequest(request: InferRequest, facts: ModelFacts, asked: RequestedModel): InferRequest {
  const { capabilities = {}, maxOutputTokens } = facts;
  if (capabilities.toolCalling === false && (request.tools?.length ?? 0) > 0)
    throw refusal(asked, `takes no tools, and ${request.tools?.length} were offered: choose a model that calls tools, or offer none`);
  if (capabilities.structuredOutput === false && request.output !== undefined)
    throw refusal(asked, "can't be held to a schema: choose a model with structured output, or ask for it as a tool");
  const unfitEffort = request.effort === undefined ? undefined : effortProblem(request.effort, facts);
  if (unfitEffort !== undefined) throw refusal(asked, unfitEffort);
  if (maxOutputTokens !== undefined && request.maxTokens !== undefined && request.maxTokens > maxOutputTokens)
    throw refusal(asked, `responds with at most ${maxOutputTokens} tokens, and maxTokens asks for ${request.maxTokens}: lower it`);
  return capabilities.vision === false ? withoutImages(request, asked) : request;
}

/** Returns the reason why a model cannot be asked with this effort, and what to do; `undefined` if it can. */
export function effortProblem(
  effort: EffortLevel,
  { capabilities = {}, supportedEffortLevels }: Pick<ModelFacts, "capabilities" | "supportedEffortLevels">,
): string | undefined {
  if (capabilities.effortLevels !== false && supportedEffortLevels?.includes(effort) !== false) return undefined;
  const levels = supportedEffortLevels?.length ? `only the efforts ${supportedEffortLevels.join(", ")}` : "no effort";
  return `takes ${levels}, and ${effort} was asked for: leave it out, or choose a model that reasons by levels`;
}

function refusal(asked: RequestedModel, message: string): ModelError {
  return new ModelError({ kind: "invalid-request", message: `${asked.model} ${message}`, ...asked });
}

function withoutImages(request: InferRequest, asked: RequestedModel): InferRequest {
  const { messages } = request;
  if (!messages.some(({ content }) => content.some(holdsImage))) return request;
  const asking = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  const seen = messages.map((message, at) => {
    if (at >= asking && message.role === "user" && message.content.some((part) => part.type === "image"))
      throw refusal(asked, "sees no images, and the message holds one: choose a model with vision, or describe what it shows");
    return inWords(message, asked.model);
  });
  return { ...request, messages: seen };
}

function inWords(message: Message, model: string): Message {
  return message.content.some(holdsImage) ? { ...message, content: message.content.map((part) => partInWords(part, model)) } : message;
}

function holdsImage(part: Content): boolean {
  return part.type === "image" || (part.type === "tool-result" && outputParts(part.output)?.some(holdsImage) === true);
}

/** Says that an image is missing and why, because a model that reads only "[image]" describes one that it never saw. */
function partInWords(part: Content, model: string): Content {
  if (part.type === "image") return { type: "text", text: `${mediaText(part).slice(0, -1)}, which is not shown: ${model} sees no images]` };
  const inner = part.type === "tool-result" ? outputParts(part.output) : undefined;
  if (part.type !== "tool-result" || inner === undefined) return part;
  return { ...part, output: { type: "content", content: inner.map((within) => partInWords(within, model)) } };
}
