import type { SessionId } from "../ids.ts";
import type { Session, SessionMetadata } from "../session.ts";
import { count, fields, jsonObject, list, nullable, number, oneOf, optional, text, type Codec } from "./codec.ts";
import { messageCodec } from "./message-codec.ts";
import { usageCodec } from "./usage-codec.ts";
import { usdCodec } from "./usd-codec.ts";
import { versioned } from "./versioned.ts";

export const sessionMetadataCodec: Codec<SessionMetadata> = versioned(
  "session metadata",
  fields<SessionMetadata>({
    id: text<SessionId>(),
    name: optional(text()),
    tags: list(text()),
    agentName: text(),
    createdAt: number,
    updatedAt: number,
    turnCount: count,
    totalTokens: count,
    usage: usageCodec,
    cost: nullable(usdCodec),
    parent: optional(fields<NonNullable<SessionMetadata["parent"]>>({ session: text<SessionId>(), seq: count })),
    state: optional(oneOf("working", "suspended", "ended")),
    reason: optional(text()),
    damaged: optional(text()),
  }),
);

export const sessionCodec: Codec<Session> = versioned(
  "session",
  fields<Session>({ metadata: sessionMetadataCodec, messages: list(messageCodec), state: jsonObject }),
);
