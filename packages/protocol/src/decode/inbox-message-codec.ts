import type { InboxMessage } from "../execution-context.ts";
import type { CallId } from "../ids.ts";
import type { EffortLevel } from "../inference.ts";
import { flag, member, nullable, oneOf, optional, tagged, text, word, type Codec } from "./codec.ts";
import { decisionCodec } from "./decision-codec.ts";
import { signalCodec } from "./effect-codec.ts";
import { messageCodec } from "./message-codec.ts";
import { permissionModeCodec } from "./permission-codec.ts";
import { versioned } from "./versioned.ts";

type Of<T extends InboxMessage["type"]> = Extract<InboxMessage, { readonly type: T }>;

export const inboxMessageCodec: Codec<InboxMessage> = versioned(
  "inbox message",
  tagged<InboxMessage>("an inbox message", {
    "steer": member<Of<"steer">>({ message: messageCodec, interrupt: flag }),
    "stop": member<Of<"stop">>({ reason: optional(text()), interrupt: optional(flag) }),
    "abort": member<Of<"abort">>({ reason: optional(text()) }),
    "set-model": member<Of<"set-model">>({ model: text(), agent: optional(text()) }),
    "set-permission-mode": member<Of<"set-permission-mode">>({ mode: permissionModeCodec }),
    "set-effort": member<Of<"set-effort">>({ effort: nullable(word<EffortLevel>()) }),
    "compact": member<Of<"compact">>({ keep: optional(text()) }),
    "decision": member<Of<"decision">>({ callId: text<CallId>(), decision: decisionCodec }),
    "signal": member<Of<"signal">>({ signal: signalCodec }),
    "supervise": member<Of<"supervise">>({ action: oneOf<"stop" | "retry">("stop", "retry"), child: text() }),
  }),
);
