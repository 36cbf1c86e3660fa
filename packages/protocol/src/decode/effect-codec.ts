import type { Directive, Effect, EffectMeta, Signal, SignalKind } from "../effect.ts";
import { parseDuration } from "../duration.ts";
import type { Scope, StoreOptions } from "../state.ts";
import { contentCodec } from "./message-codec.ts";
import {
  count,
  fields,
  json,
  jsonObject,
  list,
  member,
  number,
  optional,
  ratio,
  refuse,
  tagged,
  text,
  where,
  word,
  type Codec,
} from "./codec.ts";
import { versioned } from "./versioned.ts";

type EffectOf<T extends Effect["type"]> = Extract<Effect, { readonly type: T }>;
type DirectiveOf<T extends Directive["type"]> = Extract<Directive, { readonly type: T }>;
type ScopeOf<T extends Scope["type"]> = Extract<Scope, { readonly type: T }>;

export const signalCodec: Codec<Signal> = versioned(
  "signal",
  fields<Signal>({ kind: word<SignalKind>(), payload: json, untrusted: optional(list(text())) }),
);

const knownScope = tagged<Scope>("a scope", {
  operator: member<ScopeOf<"operator">>({ id: text() }),
  session: member<ScopeOf<"session">>({ id: text() }),
  workflow: member<ScopeOf<"workflow">>({ id: text() }),
  global: member<ScopeOf<"global">>({}),
  custom: member<ScopeOf<"custom">>({ namespace: text(), id: text() }),
});

/** Closed: data of a scope this version doesn't know must not land in another one. */
export const scopeCodec: Codec<Scope> = versioned("scope", {
  decode(value) {
    const scope = knownScope.decode(value);
    if (scope.type === "other")
      refuse(
        `there is no scope of type ${JSON.stringify((value as { readonly type: string }).type)}: use operator, session, workflow, global or custom`,
      );
    return scope;
  },
  encode: (scope) => knownScope.encode(scope),
});

const duration = where(text(), (delay) => {
  try {
    parseDuration(delay);
    return undefined;
  } catch (error) {
    return (error as RangeError).message;
  }
});

export const directiveCodec: Codec<Directive> = versioned(
  "directive",
  tagged<Directive>("a directive", {
    "emit": member<DirectiveOf<"emit">>({ event: jsonObject }),
    "spawn-agent": member<DirectiveOf<"spawn-agent">>({ name: text(), config: jsonObject }),
    "stop-child": member<DirectiveOf<"stop-child">>({ name: text() }),
    "schedule": member<DirectiveOf<"schedule">>({ action: text(), delay: duration }),
    "run-instruction": member<DirectiveOf<"run-instruction">>({ instruction: text(), input: json }),
    "cron": member<DirectiveOf<"cron">>({ expression: text(), action: text(), timeZone: optional(text()) }),
    "stop": member<DirectiveOf<"stop">>({ reason: optional(text()) }),
    "spawn-task": member<DirectiveOf<"spawn-task">>({ description: text(), input: json }),
    "stop-task": member<DirectiveOf<"stop-task">>({ taskId: text() }),
    "custom": member<DirectiveOf<"custom">>({ customType: text(), payload: json }),
  }),
);

const storeOptions = fields<StoreOptions>({
  ifVersion: optional(count),
  ttlMs: optional(number),
  tier: optional(word<"hot" | "warm" | "cold">()),
  lifetime: optional(word<"transient" | "session" | "durable">()),
  contentKind: optional(text()),
  salience: optional(number),
  metadata: optional(jsonObject),
});
const meta = optional(
  fields<EffectMeta>({
    id: text(),
    causationId: optional(text()),
    correlationId: optional(text()),
    seq: count,
    at: number,
    outcome: optional(word<"done" | "failed">()),
  }),
);
const link = { meta, scope: scopeCodec, from: text(), to: text(), relation: text() };

export const effectCodec: Codec<Effect> = versioned(
  "effect",
  tagged<Effect>("an effect", {
    "write-memory": member<EffectOf<"write-memory">>({
      meta,
      scope: scopeCodec,
      key: text(),
      value: json,
      options: optional(storeOptions),
    }),
    "delete-memory": member<EffectOf<"delete-memory">>({ meta, scope: scopeCodec, key: text() }),
    "signal": member<EffectOf<"signal">>({ meta, target: text(), signal: signalCodec }),
    "delegate": member<EffectOf<"delegate">>({ meta, operator: text(), message: list(contentCodec), metadata: optional(jsonObject) }),
    "handoff": member<EffectOf<"handoff">>({
      meta,
      operator: text(),
      task: text(),
      history: optional(json),
      metadata: optional(jsonObject),
    }),
    "link-memory": member<EffectOf<"link-memory">>(link),
    "unlink-memory": member<EffectOf<"unlink-memory">>(link),
    "tool-approval-required": member<EffectOf<"tool-approval-required">>({ meta, toolName: text(), callId: text(), input: json }),
    "progress": member<EffectOf<"progress">>({ meta, message: text(), ratio: optional(ratio) }),
    "artifact": member<EffectOf<"artifact">>({ meta, name: text(), mediaType: text(), content: json }),
    "log": member<EffectOf<"log">>({ meta, level: word<"debug" | "info" | "warn" | "error">(), message: text() }),
    "observation": member<EffectOf<"observation">>({ meta, name: text(), value: json }),
    "metric": member<EffectOf<"metric">>({ meta, name: text(), value: number, unit: optional(text()) }),
    "directive": member<EffectOf<"directive">>({ meta, directive: directiveCodec }),
    "custom": member<EffectOf<"custom">>({ meta, name: text(), payload: json }),
  }),
);
