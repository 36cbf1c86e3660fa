import fc from "fast-check";
import type { InferEvent } from "@keelson/protocol";
import { nullable, some } from "./combinators.ts";
import { content, providerData } from "./content.ts";
import { type Members, oneMember } from "./one-member.ts";
import { usage } from "./usage.ts";
import { at, count, flag, id, ratio, text } from "./values.ts";

export const inferEvent: fc.Arbitrary<InferEvent> = oneMember<InferEvent>({
  "text-start": fc.record({}),
  "text-delta": fc.record({ text }),
  "text-end": some({}, { providerData }),
  "thinking-start": fc.record({}),
  "thinking-delta": fc.record({ text }),
  "thinking-end": some({}, { providerData }),
  "tool-call-start": some({ index: count, id, name: text }, { custom: fc.constant(true) }),
  "tool-call-delta": fc.record({ index: count, text }),
  "tool-call-end": some({ index: count }, { providerData }),
  "content": fc.record({ part: content }),
  "rate-limit": fc.record({ rateLimit: fc.record({ utilization: nullable(ratio), resetAt: nullable(at), allowed: flag }) }),
  "end": some({ stopReason: text, rawStopReason: nullable(text), usage, model: text }, { providerData }),
} satisfies Members<InferEvent>);
