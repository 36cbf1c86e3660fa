import type { OperatorConfig, OperatorInput, TriggerType } from "../operator-input.ts";
import type { ExitReason, OperatorMetadata, OperatorOutput, SubDispatchRecord } from "../operator-output.ts";
import type { Query } from "../orchestrator.ts";
import type { SessionId } from "../ids.ts";
import { isRunReason } from "../reason.ts";
import { contentCodec } from "./message-codec.ts";
import { effectCodec } from "./effect-codec.ts";
import {
  count,
  fields,
  flag,
  jsonObject,
  list,
  member,
  number,
  optional,
  tagged,
  text,
  word,
  type Codec,
  type OtherMember,
} from "./codec.ts";
import { usdCodec } from "./usd-codec.ts";
import { versioned } from "./versioned.ts";

/** `allowed_tools` is what earlier systems call `allowedOperators`. */
export const operatorConfigCodec: Codec<OperatorConfig> = versioned(
  "operator config",
  fields<OperatorConfig>(
    {
      maxTurns: optional(count),
      maxCost: optional(usdCodec),
      maxDurationMs: optional(number),
      model: optional(text()),
      allowedOperators: optional(list(text())),
      systemAddendum: optional(text()),
    },
    { aliases: { allowed_tools: "allowedOperators" } },
  ),
);

export const operatorInputCodec: Codec<OperatorInput> = versioned(
  "operator input",
  fields<OperatorInput>({
    message: list(contentCodec),
    trigger: word<TriggerType>(),
    session: optional(text<SessionId>()),
    config: optional(operatorConfigCodec),
    metadata: jsonObject,
  }),
);

type Halted = Extract<ExitReason, { readonly type: "halted"; readonly by: unknown }>;
type Custom = Extract<ExitReason, { readonly type: "custom" }>;
type Detailed =
  | { readonly type: "halted"; readonly by?: Halted["by"]; readonly reason?: string }
  | { readonly type: "safety-stop"; readonly reason?: string }
  | Custom
  | OtherMember;

const detailed = tagged<Detailed>("an exit reason", {
  "halted": member<Extract<Detailed, { type: "halted" }>>({ by: optional(word<Halted["by"]>()), reason: optional(text()) }),
  "safety-stop": member<Extract<Detailed, { type: "safety-stop" }>>({ reason: optional(text()) }),
  "custom": member<Custom>({ name: text() }),
});

/** What earlier systems call a run that was halted, and who did it there. */
const OLD_HALTS: ReadonlyMap<unknown, Halted["by"]> = new Map([
  ["middleware-halt", "middleware"],
  ["interceptor-halt", "rule"],
]);

/** Reads the old names `middleware-halt` and `interceptor-halt` as `halted`. */
export const exitReasonCodec: Codec<ExitReason> = versioned("exit reason", {
  decode(value) {
    const type = (value as { readonly type?: unknown } | null)?.type;
    const by = OLD_HALTS.get(type);
    if (by !== undefined) return detailed.decode({ ...(value as object), type: "halted", by }) as ExitReason;
    if (typeof type === "string" && isRunReason(type) && type !== "halted" && type !== "safety-stop") return value as ExitReason;
    return detailed.decode(value) as ExitReason;
  },
  encode: (reason) => (isRunReason(reason.type) ? { ...reason } : detailed.encode(reason as Detailed)),
});

export const operatorMetadataCodec: Codec<OperatorMetadata> = versioned(
  "operator metadata",
  fields<OperatorMetadata>({
    tokensIn: count,
    tokensOut: count,
    cost: usdCodec,
    turnsUsed: count,
    subDispatches: list(fields<SubDispatchRecord>({ name: text(), durationMs: number, success: flag })),
    durationMs: number,
    untracked: list(text()),
  }),
);

export const operatorOutputCodec: Codec<OperatorOutput> = versioned(
  "operator output",
  fields<OperatorOutput>({
    message: list(contentCodec),
    exitReason: exitReasonCodec,
    metadata: operatorMetadataCodec,
    effects: list(effectCodec),
  }),
);

export const queryCodec: Codec<Query> = versioned("query", fields<Query>({ name: text(), params: jsonObject }));
