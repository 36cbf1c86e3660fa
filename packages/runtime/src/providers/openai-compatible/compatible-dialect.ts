import { createHash } from "node:crypto";
import type { InferRequest, JsonObject, JsonValue, ToolCallPart } from "@keelson/protocol";
import { isOwnCallId, wireCallId } from "../history.ts";
import type { ChatMessageOptions } from "../openai-chat/chat-message.ts";
import type { ChatDialect } from "../openai-chat/chat-request.ts";
import { mergeExtra } from "../request-body.ts";
import { stringOf } from "../wire-decoder.ts";
import type { OutputQuirks, ReasoningQuirks, VendorQuirks } from "./vendor-quirks.ts";

/** What the wire is called that all these vendors speak. */
export const CHAT_WIRE = "openai-chat";

/** Says to a vendor what OpenAI is told, as his quirks have it. */
export function dialectOf(quirks: VendorQuirks): ChatDialect {
  const { reasoning = {}, output = {} } = quirks;
  return {
    parameters(standard, request) {
      const { reasoning_effort: effort, response_format: format, tool_choice: choice, stream_options: streamOptions, ...rest } = standard;
      const parameters = mergeExtra(
        {
          ...rest,
          ...(streamOptions !== undefined && quirks.streamOptions !== false && { stream_options: streamOptions }),
          ...(format !== undefined && outputFormat(format as JsonObject, output)),
          ...(choice !== undefined && { tool_choice: toolChoice(choice, quirks) }),
        },
        reasoningParameters(request, reasoning, effort === undefined ? {} : { reasoning_effort: effort }),
      );
      if (quirks.refuses === undefined) return parameters;
      const refused = new Set(quirks.refuses);
      return Object.fromEntries(Object.entries(parameters).filter(([name]) => !refused.has(name)));
    },
    instructions({ output: asked }) {
      if (asked === undefined || output.form === undefined) return "";
      return `Answer with one JSON value and nothing else. It must match this JSON Schema:\n${JSON.stringify(asked.schema)}`;
    },
  };
}

/** What the encoder of messages must consider. */
export function messageQuirks(quirks: VendorQuirks): Omit<ChatMessageOptions, "wire" | "provider"> {
  const { callIds, reasoning = {}, systemOnlyFirst, joinsUserMessages, afterResults } = quirks;
  return {
    replaysReasoning: reasoning.replays !== false,
    ...(reasoning.requiredField !== undefined && { reasoningField: reasoning.requiredField }),
    callId: (call) => fittingCallId(call, callIds),
    ...(systemOnlyFirst !== undefined && { systemOnlyFirst }),
    ...(joinsUserMessages !== undefined && { joinsUserMessages }),
    ...(afterResults !== undefined && { afterResults }),
  };
}

/** `standard` is how OpenAI is told. */
function reasoningParameters({ effort, thinking }: InferRequest, quirks: ReasoningQuirks, standard: JsonObject): JsonObject {
  if (thinking?.type === "disabled") return quirks.off ?? standard;
  const hasOwnWay = quirks.effort !== undefined || quirks.on !== undefined || quirks.budget !== undefined;
  const asked = effort === undefined ? (hasOwnWay ? {} : standard) : (quirks.effort?.[effort] ?? standard);
  if (thinking === undefined) return asked;
  const budget = thinking.type === "enabled" && quirks.budget !== undefined ? atPath(quirks.budget, thinking.budgetTokens) : {};
  // A budget and a level exclude each other where one member holds both.
  const level = Object.keys(budget).length > 0 ? (quirks.on ?? {}) : mergeExtra(quirks.on ?? {}, asked);
  return mergeExtra(level, budget);
}

function atPath(path: string, value: JsonValue): JsonObject {
  return path.split(".").reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value) as JsonObject;
}

function outputFormat(format: JsonObject, { form, strict }: OutputQuirks): JsonObject {
  if (form === "words") return {};
  if (form === "json-object") return { response_format: { type: "json_object" } };
  if (strict !== false) return { response_format: format };
  const { strict: _, ...schema } = format["json_schema"] as JsonObject;
  return { response_format: { ...format, json_schema: schema } };
}

function toolChoice(choice: JsonValue, { requiredToolChoice, namedToolChoice }: VendorQuirks): JsonValue {
  const lowered = typeof choice === "object" && namedToolChoice === false ? "required" : choice;
  return lowered === "required" ? (requiredToolChoice ?? "required") : lowered;
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** The vendor's own id goes back as it is, unless another vendor of this wire gave it and this one refuses such ids. */
function fittingCallId(call: ToolCallPart, form: VendorQuirks["callIds"]): string {
  const own = call.providerData?.wire === CHAT_WIRE ? stringOf(call.providerData["id"]) : "";
  const id = isOwnCallId(own) ? own : wireCallId(call, CHAT_WIRE);
  if (form === undefined) return id;
  if ("maxLength" in form) return id.length <= form.maxLength ? id : standIn(id, form.maxLength);
  return id.length === form.length && /^[0-9A-Za-z]+$/.test(id) ? id : standIn(id, form.length);
}

function standIn(id: string, length: number): string {
  let rest = BigInt(`0x${createHash("sha256").update(id).digest("hex")}`);
  let made = "";
  for (; made.length < length; rest /= 62n) made += DIGITS[Number(rest % 62n)];
  return made;
}
