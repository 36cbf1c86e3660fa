import fc from "fast-check";
import type { Directive, Effect, Scope, Signal } from "@keelson/protocol";
import { asJson, few, some } from "./combinators.ts";
import { content } from "./content.ts";
import { type Members, oneMember } from "./one-member.ts";
import { at, count, id, json, jsonObject, ratio, text } from "./values.ts";

export const scope: fc.Arbitrary<Scope> = oneMember<Scope>(
  {
    operator: fc.record({ id }),
    session: fc.record({ id }),
    workflow: fc.record({ id }),
    global: fc.record({}),
    custom: fc.record({ namespace: text, id }),
  } satisfies Members<Scope>,
  false,
);

export const signal: fc.Arbitrary<Signal> = asJson<Signal>(
  fc.record({ kind: fc.oneof(fc.constantFrom("stop", "user-message", "tool-result", "timer"), text), payload: json }),
);

export const directive: fc.Arbitrary<Directive> = oneMember<Directive>({
  "emit": fc.record({ event: jsonObject }),
  "spawn-agent": fc.record({ name: text, config: jsonObject }),
  "stop-child": fc.record({ name: text }),
  "schedule": fc.record({ action: text, delay: fc.constantFrom("30s", "1h 30m", "2days") }),
  "run-instruction": fc.record({ instruction: text, input: json }),
  "cron": some({ expression: text, action: text }, { timeZone: text }),
  "stop": some({}, { reason: text }),
  "spawn-task": fc.record({ description: text, input: json }),
  "stop-task": fc.record({ taskId: id }),
  "custom": fc.record({ customType: text, payload: json }),
} satisfies Members<Directive>);

const meta = some({ id, seq: count, at }, { causationId: id, correlationId: id, outcome: fc.constantFrom("done", "failed") });
const link = some({ scope, from: text, to: text, relation: text }, { meta });

export const effect: fc.Arbitrary<Effect> = oneMember<Effect>({
  "write-memory": some(
    { scope, key: text, value: json },
    {
      meta,
      options: some(
        {},
        {
          ifVersion: count,
          ttlMs: count,
          tier: fc.constantFrom("hot", "warm", "cold"),
          lifetime: text,
          contentKind: text,
          salience: ratio,
          metadata: jsonObject,
        },
      ),
    },
  ),
  "delete-memory": some({ scope, key: text }, { meta }),
  "signal": some({ target: text, signal }, { meta }),
  "delegate": some({ operator: text, message: few(content) }, { meta, metadata: jsonObject }),
  "handoff": some({ operator: text, task: text }, { meta, history: json, metadata: jsonObject }),
  "link-memory": link,
  "unlink-memory": link,
  "tool-approval-required": some({ toolName: text, callId: id, input: json }, { meta }),
  "progress": some({ message: text }, { meta, ratio }),
  "artifact": some({ name: text, mediaType: text, content: json }, { meta }),
  "log": some({ level: fc.constantFrom("debug", "info", "warn", "error"), message: text }, { meta }),
  "observation": some({ name: text, value: json }, { meta }),
  "metric": some({ name: text, value: count }, { meta, unit: text }),
  "directive": some({ directive }, { meta }),
  "custom": some({ name: text, payload: json }, { meta }),
} satisfies Members<Effect>);
