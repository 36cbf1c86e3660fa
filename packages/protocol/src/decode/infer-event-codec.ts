import type { ProviderData } from "../content.ts";
import type { InferEnd, InferEvent, RateLimit, StopReason } from "../inference.ts";
import { contentCodec, providerDataCodec } from "./message-codec.ts";
import { count, fields, flag, member, nullable, number, optional, tagged, text, word, yes, type Codec, type OtherMember } from "./codec.ts";
import { usageCodec } from "./usage-codec.ts";
import { versioned } from "./versioned.ts";

type Of<T extends InferEvent["type"]> = Extract<InferEvent, { readonly type: T }>;
const providerData = optional<ProviderData>(providerDataCodec);

export const rateLimitCodec: Codec<RateLimit> = fields<RateLimit>({
  utilization: nullable(number),
  resetAt: nullable(number),
  allowed: flag,
});

export const inferEventCodec: Codec<InferEvent | OtherMember> = versioned(
  "infer event",
  tagged<InferEvent>("an infer event", {
    "text-start": member<Of<"text-start">>({}),
    "text-delta": member<Of<"text-delta">>({ text: text() }),
    "text-end": member<Of<"text-end">>({ providerData }),
    "thinking-start": member<Of<"thinking-start">>({}),
    "thinking-delta": member<Of<"thinking-delta">>({ text: text() }),
    "thinking-end": member<Of<"thinking-end">>({ providerData }),
    "tool-call-start": member<Of<"tool-call-start">>({ index: count, id: text(), name: text(), custom: optional(yes) }),
    "tool-call-delta": member<Of<"tool-call-delta">>({ index: count, text: text() }),
    "tool-call-end": member<Of<"tool-call-end">>({ index: count, providerData }),
    "content": member<Of<"content">>({ part: contentCodec }),
    "rate-limit": member<Of<"rate-limit">>({ rateLimit: rateLimitCodec }),
    "end": member<InferEnd>({
      stopReason: word<StopReason>(),
      rawStopReason: nullable(text()),
      usage: usageCodec,
      model: text(),
      providerData,
    }),
  }),
);
