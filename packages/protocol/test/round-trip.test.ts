import * as protocol from "@keelson/protocol";
import { DecodeError, type Codec, type JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as arbitrary from "./payload-arbitraries.ts";

/** Every payload codec that the package exports, and what it reads. */
const payloads: { readonly [name: string]: fc.Arbitrary<unknown> } = {
  authorityCodec: arbitrary.authority,
  contentCodec: arbitrary.content,
  decisionCodec: arbitrary.decision,
  directiveCodec: arbitrary.directive,
  durableEventCodec: arbitrary.durableEvent,
  effectCodec: arbitrary.effect,
  environmentSpecCodec: arbitrary.environmentSpec,
  eventCodec: arbitrary.event,
  exitReasonCodec: arbitrary.exitReason,
  inboxMessageCodec: arbitrary.inboxMessage,
  inferEventCodec: arbitrary.inferEvent,
  messageCodec: arbitrary.message,
  operatorConfigCodec: arbitrary.operatorConfig,
  operatorInputCodec: arbitrary.operatorInput,
  operatorMetadataCodec: arbitrary.operatorMetadata,
  operatorOutputCodec: arbitrary.operatorOutput,
  permissionPolicyCodec: arbitrary.permissionPolicy,
  permissionRuleCodec: arbitrary.permissionRule,
  queryCodec: arbitrary.query,
  scopeCodec: arbitrary.scope,
  serializedErrorCodec: arbitrary.serializedError,
  sessionCodec: arbitrary.session,
  sessionMetadataCodec: arbitrary.sessionMetadata,
  signalCodec: arbitrary.signal,
  transientEventCodec: arbitrary.transientEvent,
  usageCodec: arbitrary.usage,
  usdCodec: fc.bigInt({ min: 0n, max: 10n ** 15n }).map(protocol.fromPicoUsd),
  waitCodec: arbitrary.wait,
};
const codecs = Object.entries(protocol).filter(([name]) => name.endsWith("Codec")) as [string, Codec<unknown>][];
const overWire = (value: JsonValue): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

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
      fc.property(value, arbitrary.json, (x, future) => {
        const y = arbitrary.withFutureFields(overWire(codec.encode(x)), future);
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
