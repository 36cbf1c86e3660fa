import type { Content, JsonObject, JsonValue, ProviderData } from "@keelson/protocol";
import { jsonText, parseJson } from "../../json/index.ts";
import { ArgumentText } from "../argument-text.ts";
import type { HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { argumentText, sentArguments } from "../sent-arguments.ts";
import { type DecoderContext, fieldsOf, type SegmentWriter, stringOf } from "../wire-decoder.ts";
import type { AnthropicBlockStart, AnthropicDelta } from "./anthropic-wire.ts";

/** One content block while it comes in. `start` and `finish` bracket any number of `delta`s. */
export interface AnthropicBlock {
  delta(delta: AnthropicDelta): void;
  finish(): void;
}

/** Where blocks put what they hold. */
export interface BlockSink {
  readonly queue: DecodedEvent[];
  readonly segments: SegmentWriter;
  readonly context: DecoderContext;
  readonly held: HeldText;
  /** The place of the next tool call in the response. */
  nextCallIndex(): number;
}

/** Streams what it gets. */
export function openTextBlock(block: AnthropicBlockStart, { segments, context }: BlockSink): AnthropicBlock {
  const citations: JsonValue[] = Array.isArray(block["citations"]) ? [...(block["citations"] as JsonValue[])] : [];
  segments.start("text");
  if (stringOf(block["text"]) !== "") segments.text(stringOf(block["text"]));
  return {
    delta(delta) {
      if (delta["type"] === "citations_delta") citations.push(delta["citation"] as JsonValue);
      else if (stringOf(delta["text"]) !== "") segments.text(stringOf(delta["text"]));
    },
    finish: () => segments.end(citations.length === 0 ? undefined : { wire: context.wire, citations }),
  };
}

/** Newer models send no thinking text, only the signature; it must go back all the same. */
export function openThinkingBlock(block: AnthropicBlockStart, { segments, context }: BlockSink): AnthropicBlock {
  let signature = stringOf(block["signature"]);
  segments.start("thinking");
  if (stringOf(block["thinking"]) !== "") segments.thinking(stringOf(block["thinking"]));
  return {
    delta(delta) {
      signature += stringOf(delta["signature"]);
      if (stringOf(delta["thinking"]) !== "") segments.thinking(stringOf(delta["thinking"]));
    },
    finish: () => segments.end(signature === "" ? undefined : { wire: context.wire, model: context.model, signature }),
  };
}

export function openToolUseBlock(block: AnthropicBlockStart, { queue, segments, context, held, nextCallIndex }: BlockSink): AnthropicBlock {
  const id = stringOf(block["id"]);
  const index = nextCallIndex();
  const input = new ArgumentText();
  const whole = argumentText(sentArguments(block, "input") ?? {});
  let any = false;
  const flow = (): void => {
    const text = input.take();
    if (text !== "") queue.push({ type: "tool-call-delta", index, text });
  };
  segments.end();
  queue.push({ type: "tool-call-start", index, id, name: stringOf(block["name"]) });
  return {
    delta(delta) {
      const text = argumentText(delta["partial_json"]);
      // Some gateways send the whole input at the start, and an empty object behind it.
      if (text === "" || (!any && text === "{}" && whole !== "{}")) return;
      any = true;
      const { pending } = input;
      input.add(text);
      held.add(Math.max(0, input.pending - pending));
      flow();
    },
    finish() {
      // Without deltas the input is that of the start: `{}`, or the whole in a response that is not streamed.
      if (!any) input.add(whole);
      input.finish();
      flow();
      const caller = fieldsOf(block["caller"]);
      const called = caller !== undefined && caller["type"] !== "direct" ? { caller: caller as JsonObject } : {};
      queue.push({ type: "tool-call-end", index, providerData: { wire: context.wire, id, ...called } });
    },
  };
}

/** Everything else is gathered, and handed over whole: what the vendor ran itself, redacted thinking, compaction, what is new. */
export function openWholeBlock(block: AnthropicBlockStart, { queue, segments, context, held }: BlockSink): AnthropicBlock {
  const gathered: Record<string, unknown> = { ...block };
  let inputText = "";
  segments.end();
  return {
    delta(delta) {
      held.add(JSON.stringify(delta).length);
      for (const [name, value] of Object.entries(delta)) {
        if (name === "type") continue;
        if (name === "partial_json") inputText += stringOf(value);
        else gathered[name] = typeof value === "string" && typeof gathered[name] === "string" ? gathered[name] + value : value;
      }
    },
    finish() {
      if (inputText !== "") gathered["input"] = parsed(inputText);
      queue.push({ type: "content", part: wholePart(gathered as JsonObject, context) });
    },
  };
}

export function wholePart(block: JsonObject, { wire, model }: DecoderContext): Content {
  const type = stringOf(block["type"]);
  const providerData: ProviderData = { wire, block };
  if (type === "redacted_thinking") return { type: "thinking", text: "", providerData: { wire, model, redacted: stringOf(block["data"]) } };
  if (type.endsWith("tool_use")) {
    const name = stringOf(block["name"]) || type;
    return { type: "server-tool", name, text: `${name}(${jsonText(block["input"] ?? {})})`, providerData };
  }
  if (type.endsWith("_result")) return { type: "server-tool", name: type, text: readable(block["content"]), providerData };
  return { type: "other", raw: block, providerData };
}

/** The words of a result, for wires that cannot take the block itself. */
function readable(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content))
    return content
      .map(readable)
      .filter((text) => text !== "")
      .join("\n");
  const fields = fieldsOf(content);
  if (fields === undefined) return "";
  const words = ["title", "url", "text", "stdout", "stderr", "error_code"]
    .map((name) => stringOf(fields[name]))
    .filter((text) => text !== "");
  return words.length > 0 ? words.join("\n") : readable(fields["content"]);
}

function parsed(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
