import fc from "fast-check";
import {
  EXIT_CODES,
  type ExitReason,
  type OperatorConfig,
  type OperatorInput,
  type OperatorMetadata,
  type OperatorOutput,
} from "@keelson/protocol";
import { asJson, few, some } from "./combinators.ts";
import { content } from "./content.ts";
import { effect } from "./effect.ts";
import { usd } from "./usage.ts";
import { count, flag, id, json, jsonObject, text } from "./values.ts";

export const exitReason: fc.Arbitrary<ExitReason> = asJson<ExitReason>(
  fc.oneof(
    fc.constantFrom(...Object.keys(EXIT_CODES)).map((type) => ({ type })),
    fc.record({ type: fc.constant("halted"), by: fc.constantFrom("rule", "middleware", "hook", "plugin", "strategy"), reason: text }),
    fc.record({ type: fc.constant("safety-stop"), reason: text }),
    fc.record({ type: fc.constant("custom"), name: text }),
    fc.record({ type: fc.constant("from-the-future"), why: json }).map((raw) => ({ type: "other", raw })),
  ),
);

export const operatorConfig: fc.Arbitrary<OperatorConfig> = asJson<OperatorConfig>(
  some({}, { maxTurns: count, maxCost: usd, maxDurationMs: count, model: text, allowedOperators: few(text), systemAddendum: text }),
);

export const operatorInput: fc.Arbitrary<OperatorInput> = asJson<OperatorInput>(
  some(
    { message: few(content), trigger: fc.constantFrom("user", "task", "signal", "mine"), metadata: jsonObject },
    { session: id, config: operatorConfig },
  ),
);

export const operatorMetadata: fc.Arbitrary<OperatorMetadata> = asJson<OperatorMetadata>(
  fc.record({
    tokensIn: count,
    tokensOut: count,
    cost: usd,
    turnsUsed: count,
    subDispatches: few(fc.record({ name: text, durationMs: count, success: flag })),
    durationMs: count,
    untracked: few(text),
  }),
);

export const operatorOutput: fc.Arbitrary<OperatorOutput> = asJson<OperatorOutput>(
  fc.record({ message: few(content), exitReason, metadata: operatorMetadata, effects: few(effect) }),
);
