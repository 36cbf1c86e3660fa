import { DirectiveError, directiveCodec } from "@keelson/protocol";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createDirectivePayloads, type CustomDirective } from "./directive-payloads.ts";

const dates = {
  encode: (date: Date) => date.toISOString(),
  decode: (json: unknown) => new Date(String(json)),
};
const payloads = createDirectivePayloads()
  .register("wake", dates)
  .register("refresh", z.object({ url: z.string(), depth: z.number().default(1) }))
  .register("plain", { type: "object", required: ["a"] });

describe("payloads of custom directives", () => {
  it("become JSON under their tag, and are themselves again behind a wire [DI-11]", async () => {
    const noon = new Date("2024-05-01T12:00:00Z");
    const directive = payloads.directive("wake", noon);
    expect(directive).toEqual({ type: "custom", customType: "wake", payload: "2024-05-01T12:00:00.000Z" });
    const received = directiveCodec.decode(JSON.parse(JSON.stringify(directive))) as CustomDirective;
    expect(await payloads.decode(received)).toEqual(noon);
    expect(payloads.has("wake")).toBe(true);
    expect(payloads.customTypes).toEqual(["wake", "refresh", "plain"]);
  });

  it("are refused by name where their type was never registered, when written and when read [DI-11, ER-11]", async () => {
    const unknown = { type: "custom", customType: "nobody", payload: {} } as const;
    const message =
      'No payload is registered for the custom directive "nobody" (there are: wake, refresh, plain). Register it with createDirectivePayloads().register.';
    const refusal = await payloads.decode(unknown).catch((error: unknown) => error);
    expect(DirectiveError.is(refusal, "unknown-payload") && refusal.failure).toEqual({
      kind: "unknown-payload",
      customType: "nobody",
      message,
    });
    expect(() => payloads.directive("nobody" as "wake", new Date())).toThrow(message);
    expect(() => createDirectivePayloads().directive("toString" as never, {} as never)).toThrow("there are: none");
  });

  it("are checked against their schema when they are read", async () => {
    expect(await payloads.decode({ type: "custom", customType: "refresh", payload: { url: "a" } })).toEqual({ url: "a", depth: 1 });
    await expect(payloads.decode({ type: "custom", customType: "refresh", payload: { url: 1 } })).rejects.toMatchObject({
      failure: { kind: "execution-failed", directive: "refresh", message: expect.stringContaining("url") },
    });
    await expect(payloads.decode({ type: "custom", customType: "plain", payload: {} })).rejects.toThrow(/can't be read.*a/);
  });

  it("are refused where they are nothing that JSON can hold", () => {
    const odd = createDirectivePayloads().register("odd", { encode: () => undefined as never, decode: (json) => json });
    expect(() => odd.directive("odd", null)).toThrow('The payload of the custom directive "odd" can\'t be written as JSON');
    const big = createDirectivePayloads().register("big", { encode: () => 1n as never, decode: (json) => json });
    expect(() => big.directive("big", null)).toThrow(DirectiveError);
  });

  it("have the types that their codecs give them", () => {
    expectTypeOf(payloads.directive<"wake">)
      .parameter(1)
      .toEqualTypeOf<Date>();
    expectTypeOf(payloads.directive<"refresh">)
      .parameter(1)
      .toEqualTypeOf<{ url: string; depth: number }>();
    // @ts-expect-error: it was never registered
    expect(() => payloads.directive("other", 1)).toThrow();
  });
});
