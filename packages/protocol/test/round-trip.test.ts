import * as protocol from "@keelson/protocol";
import { DecodeError, type Codec, type JsonObject, type JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { content, message } from "./payload-arbitraries/content.ts";
import { decision } from "./payload-arbitraries/decision.ts";
import { directive, effect, scope, signal } from "./payload-arbitraries/effect.ts";
import { environmentSpec } from "./payload-arbitraries/environment-spec.ts";
import { durableEvent, emittedEvent, event, transientEvent, wait } from "./payload-arbitraries/event.ts";
import { serializedError } from "./payload-arbitraries/failure.ts";
import { inboxMessage } from "./payload-arbitraries/inbox-message.ts";
import { inferEvent } from "./payload-arbitraries/infer-event.ts";
import { exitReason, operatorConfig, operatorInput, operatorMetadata, operatorOutput } from "./payload-arbitraries/operator.ts";
import { authority, permissionPolicy, permissionRule } from "./payload-arbitraries/permission.ts";
import { query } from "./payload-arbitraries/query.ts";
import { session, sessionMetadata } from "./payload-arbitraries/session.ts";
import { usage, usd } from "./payload-arbitraries/usage.ts";
import { json } from "./payload-arbitraries/values.ts";

/** Every payload codec that the package exports, and what it reads. */
const payloads: { readonly [name: string]: fc.Arbitrary<unknown> } = {
  authorityCodec: authority,
  contentCodec: content,
  decisionCodec: decision,
  directiveCodec: directive,
  durableEventCodec: durableEvent,
  emittedEventCodec: emittedEvent,
  effectCodec: effect,
  environmentSpecCodec: environmentSpec,
  eventCodec: event,
  exitReasonCodec: exitReason,
  inboxMessageCodec: inboxMessage,
  inferEventCodec: inferEvent,
  messageCodec: message,
  operatorConfigCodec: operatorConfig,
  operatorInputCodec: operatorInput,
  operatorMetadataCodec: operatorMetadata,
  operatorOutputCodec: operatorOutput,
  permissionPolicyCodec: permissionPolicy,
  permissionRuleCodec: permissionRule,
  queryCodec: query,
  scopeCodec: scope,
  serializedErrorCodec: serializedError,
  sessionCodec: session,
  sessionMetadataCodec: sessionMetadata,
  signalCodec: signal,
  transientEventCodec: transientEvent,
  usageCodec: usage,
  usdCodec: usd,
  waitCodec: wait,
};
const codecs = Object.entries(protocol).filter(([name]) => name.endsWith("Codec")) as [string, Codec<unknown>][];
const overWire = (value: JsonValue): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

/** Adds a field that no version knows yet to every object, wherever it stands. */
function withFutureFields(value: JsonValue, future: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withFutureFields(item, future));
  return {
    ...Object.fromEntries(Object.entries(value as JsonObject).map(([name, inner]) => [name, withFutureFields(inner as JsonValue, future)])),
    "x-future": future,
  };
}

it("has a payload to try for every codec", () => {
  expect(codecs.map(([name]) => name).sort()).toEqual(Object.keys(payloads).sort());
});

describe.each(codecs)("%s", (name, codec) => {
  const value = payloads[name]!;

  it("reads what it wrote, so that a call in process and one over a wire use the same values [LA-06, TE-04]", () => {
    fc.assert(
      fc.property(value, (x) => {
        expect(codec.decode(overWire(codec.encode(x)))).toStrictEqual(x);
      }),
    );
  });

  it("writes what it read, fields and members of later versions included [GEN-01, LA-08, LA-11, TE-04]", () => {
    fc.assert(
      fc.property(value, json, (x, future) => {
        const y = withFutureFields(overWire(codec.encode(x)), future);
        expect(codec.encode(codec.decode(y))).toStrictEqual(y);
      }),
    );
  });

  it("refuses anything else with a DecodeError, never with another error or a hang [ET-16]", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.dictionary(fc.constantFrom("type", "role", "content", "v", "kind", "message", "rules"), fc.jsonValue()),
        ),
        (anything) => {
          try {
            codec.decode(anything);
          } catch (error) {
            if (!DecodeError.is(error)) throw error;
            expect(error.message.length).toBeGreaterThan(10);
          }
        },
      ),
    );
  });

  it("gives back the very object it was given when it has nothing to change", () => {
    fc.assert(
      fc.property(value, (x) => {
        const y = overWire(codec.encode(x));
        if (JSON.stringify(y).includes('"from-the-future"') || JSON.stringify(y).includes('"hologram"')) return;
        expect(codec.decode(y)).toBe(y);
      }),
    );
  });
});
