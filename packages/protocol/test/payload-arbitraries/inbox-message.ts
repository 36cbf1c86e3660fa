import fc from "fast-check";
import { type InboxMessage, PERMISSION_MODES } from "@keelson/protocol";
import { nullable, some } from "./combinators.ts";
import { message } from "./content.ts";
import { decision } from "./decision.ts";
import { signal } from "./effect.ts";
import { type Members, oneMember } from "./one-member.ts";
import { flag, id, text } from "./values.ts";

export const inboxMessage: fc.Arbitrary<InboxMessage> = oneMember<InboxMessage>({
  "steer": fc.record({ message, interrupt: flag }),
  "stop": some({}, { reason: text, interrupt: flag }),
  "abort": some({}, { reason: text }),
  "set-model": some({ model: text }, { agent: text }),
  "set-permission-mode": fc.record({ mode: fc.constantFrom(...PERMISSION_MODES) }),
  "set-effort": fc.record({ effort: nullable(text) }),
  "compact": some({}, { keep: text }),
  "decision": fc.record({ callId: id, decision }),
  "signal": fc.record({ signal }),
  "supervise": fc.record({ action: fc.constantFrom("stop", "retry"), child: text }),
} satisfies Members<InboxMessage>);
