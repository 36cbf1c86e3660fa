import fc from "fast-check";
import type { Session, SessionMetadata } from "@keelson/protocol";
import { asJson, few, some } from "./combinators.ts";
import { message } from "./content.ts";
import { cost, usage } from "./usage.ts";
import { at, count, id, jsonObject, text } from "./values.ts";

export const sessionMetadata: fc.Arbitrary<SessionMetadata> = asJson<SessionMetadata>(
  some(
    { id, tags: few(text), agentName: text, createdAt: at, updatedAt: at, turnCount: count, totalTokens: count, usage, cost },
    {
      name: text,
      parent: fc.record({ session: id, seq: count }),
      state: fc.constantFrom("working", "suspended", "ended"),
      reason: text,
      damaged: text,
    },
  ),
);

export const session: fc.Arbitrary<Session> = asJson<Session>(
  fc.record({ metadata: sessionMetadata, messages: few(message), state: jsonObject }),
);
