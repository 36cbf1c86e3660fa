import type { Decision } from "../approval.ts";
import { json, list, member, optional, tagged, text, type Codec } from "./codec.ts";
import { versioned } from "./versioned.ts";

type Of<T extends Decision["type"]> = Extract<Decision, { readonly type: T }>;
const by = optional(text());
const reason = optional(text());

export const decisionCodec: Codec<Decision> = versioned(
  "decision",
  tagged<Decision>("a decision", {
    "allow": member<Of<"allow">>({ by }),
    "deny": member<Of<"deny">>({ by, reason }),
    "allow-always": member<Of<"allow-always">>({ by, rules: optional(list(text())) }),
    "allow-modified": member<Of<"allow-modified">>({ by, input: json }),
    "abort": member<Of<"abort">>({ by, reason }),
    "retry": member<Of<"retry">>({ by }),
    "supply": member<Of<"supply">>({ by, output: json }),
    "fail": member<Of<"fail">>({ by, reason }),
  }),
);
