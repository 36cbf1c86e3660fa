import type { JsonValue } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { RecordedCall } from "../../session/recorded-call.ts";
import { guardKey } from "../turn/call-key.ts";
import { repeats } from "./loop-guard.ts";

const made = (output: JsonValue, fields: Partial<RecordedCall> = {}): RecordedCall => ({
  key: "look:{}",
  output,
  isError: false,
  ...fields,
});

describe("one more call", () => {
  it("is let through after one that was like it, and told of two that gave the same", () => {
    expect(repeats("look:{}", [])).toBeUndefined();
    expect(repeats("look:{}", [made("a")])).toBeUndefined();
    expect(repeats("look:{}", [made("a"), made("b", { key: "other" })])).toBeUndefined();
    expect(repeats("look:{}", [made("a"), made("b", { key: "other" }), made("a")])).toBe(
      "This exact call was made 2 times already and gave the same result each time. Use that result, or change the arguments.",
    );
  });

  it("is let through while what it gives still changes, until it was made five times", () => {
    const changing = ["a", "b", "a", "a", "a"].map((output) => made(output));
    expect(repeats("look:{}", changing.slice(0, 4))).toBeUndefined();
    expect(repeats("look:{}", changing)).toBe(
      "This exact call was made 5 times already. Stop repeating it: change the arguments or the approach.",
    );
  });

  it("is let through where one before it failed, with the same words or not", () => {
    expect(repeats("look:{}", [made("busy", { isError: true }), made("busy", { isError: true })])).toBeUndefined();
    expect(repeats("look:{}", [made("a"), made("a", { isError: true })])).toBeUndefined();
  });

  it("is told of results that say the same, however they are written", () => {
    expect(repeats("look:{}", [made({ a: 1, b: [2] }), made({ b: [2], a: 1 })])).toBeDefined();
    expect(repeats("look:{}", [made(null), made(null)])).toBeDefined();
    expect(repeats("look:{}", [made({ a: 1 }), made({ a: 2 })])).toBeUndefined();
    expect(repeats("look:{}", [made('{"a":1}'), made({ a: 1 })])).toBeUndefined();
    expect(repeats("look:{}", [made({ a: 1 }), made('{"a":1}')])).toBeUndefined();
  });
});

describe("the key of a call", () => {
  it("is the tool's name with the arguments, and with their digest where they are long", () => {
    const fitting = "x".repeat(64 - '{"a":""}'.length);
    expect(guardKey("look", { input: { b: 1, a: 2 } })).toBe('look:{"a":2,"b":1}');
    expect(guardKey("look", { input: { a: fitting } })).toBe(`look:{"a":"${fitting}"}`);
    const long = guardKey("look", { input: { a: `${fitting}x` } });
    expect(long).toMatch(/^look:\w+$/);
    expect(guardKey("look", { input: { a: `${fitting}y` } })).not.toBe(long);
  });

  it("is written once for the same arguments, and anew for others", () => {
    const call: Parameters<typeof guardKey>[1] = { input: { a: 1 } };
    const first = guardKey("look", call);
    const { guarded } = call;
    expect(guardKey("look", call)).toBe(first);
    expect(call.guarded).toBe(guarded);
    call.input = { a: 2 };
    expect(guardKey("look", call)).toBe('look:{"a":2}');
  });
});
