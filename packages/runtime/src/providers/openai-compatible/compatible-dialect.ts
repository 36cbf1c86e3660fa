import { createHash } from "node:crypto";
import type { EffortLevel, InferRequest, JsonObject, JsonValue } from "@keelson/protocol";
import type { ChatMessageOptions } from "../openai-chat/chat-message.ts";
import type { ChatDialect } from "../openai-chat/chat-request.ts";
import { mergeExtra } from "../request-body.ts";
import type { OutputQuirks, ReasoningQuirks, VendorQuirks } from "./vendor-quirks.ts";

/** Says to a vendor what OpenAI is told, as his quirks have it. */
export function dialectOf(quirks: VendorQuirks): ChatDialect {
  const { reasoning = {}, output = {} } = quirks;
  return {
    parameters(standard, request) {
      const { reasoning_effort: _, response_format: format, tool_choice: choice, stream_options: streamOptions, ...rest } = standard;
      const parameters = mergeExtra(
        {
          ...rest,
          ...(streamOptions !== undefined && quirks.streamOptions !== false && { stream_options: streamOptions }),
          ...(format !== undefined && outputFormat(format as JsonObject, output)),
          ...(choice !== undefined && { tool_choice: toolChoice(choice, quirks) }),
        },
        reasoningParameters(request, reasoning),
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

/** What the encoder of messages must heed. */
export function messageQuirks(quirks: VendorQuirks): Omit<ChatMessageOptions, "wire" | "provider"> {
  const { callIds, reasoning = {}, systemOnlyFirst, joinsUserMessages, afterResults } = quirks;
  return {
    replaysReasoning: reasoning.replays !== false,
    ...(reasoning.requiredField !== undefined && { reasoningField: reasoning.requiredField }),
    ...(callIds !== undefined && { callId: (id: string) => callIdOf(id, callIds.length) }),
    ...(systemOnlyFirst !== undefined && { systemOnlyFirst }),
    ...(joinsUserMessages !== undefined && { joinsUserMessages }),
    ...(afterResults !== undefined && { afterResults }),
  };
}

const DEFAULT_EFFORT: { readonly [level in EffortLevel]: JsonObject } = {
  low: { reasoning_effort: "low" },
  medium: { reasoning_effort: "medium" },
  high: { reasoning_effort: "high" },
  max: { reasoning_effort: "high" },
};

function reasoningParameters({ effort, thinking }: InferRequest, quirks: ReasoningQuirks): JsonObject {
  if (thinking?.type === "disabled") return quirks.off ?? {};
  const asked = effort === undefined ? {} : (quirks.effort ?? DEFAULT_EFFORT)[effort];
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

/** The id itself where it has the form, else one of that form that stands for it. */
function callIdOf(id: string, length: number): string {
  if (id.length === length && /^[0-9A-Za-z]+$/.test(id)) return id;
  let rest = BigInt(`0x${createHash("sha256").update(id).digest("hex")}`);
  let made = "";
  for (; made.length < length; rest /= 62n) made += DIGITS[Number(rest % 62n)];
  return made;
}
