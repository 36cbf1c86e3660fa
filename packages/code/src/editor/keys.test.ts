import { describe, expect, it } from "vitest";
import { isRelease, keyAction, KEYS, plainKey } from "./keys.ts";

describe("keyAction", () => {
  it.each([
    ["\r", "send"],
    ["\u001b[13u", "send"],
    ["\u001bOM", "send"],
    ["\n", "new-line"],
    ["\u001b[13;2u", "new-line"],
    ["\u001b[27;2;13~", "new-line"],
    ["\u001b[13;3u", "new-line"],
    ["\u001b\r", "new-line"],
    ["\u001b", "stop"],
    ["\u001b[27u", "stop"],
    ["\u0003", "interrupt"],
    ["\u001b[99;5u", "interrupt"],
    ["\u001b[27;5;99~", "interrupt"],
    ["\u001b[Z", "mode"],
    ["\u001b[9;2u", "mode"],
    ["\u001b[1;3A", "take-back"],
    ["\u001bOA", "previous"],
    ["\u001b[99;69u", "interrupt"],
    ["a", undefined],
    ["\u001bb", undefined],
  ])("reads %j as %s", (sequence, action) => {
    expect(keyAction(sequence)).toBe(action);
  });
});

describe("plainKey", () => {
  it("returns the character of a key in the kitty protocol and in that of modifyOtherKeys", () => {
    expect(["\u001b[97u", "\u001b[97:65;2u", "\u001b[27;2;65~", "\u001b[27;1;8364~", "\u001b[27;65;97~"].map(plainKey)).toEqual([
      "a",
      "A",
      "A",
      "€",
      "a",
    ]);
  });

  it("leaves keys with Ctrl and Alt, and other keys, as they are", () => {
    const keys = ["\u001b[97;5u", "\u001b[27;3;97~", "\u001b[27;2;13~", "\u001b[A", "text", "\u001b"];
    expect(keys.map(plainKey)).toEqual(keys);
  });
});

describe("isRelease", () => {
  it("recognises a key that was let go, and no text that looks like one", () => {
    expect(["\u001b[97;1:3u", "\u001b[1;1:3A", "\u001b[97;1:1u", "90:62:3F"].map(isRelease)).toEqual([true, true, false, false]);
  });
});

describe("KEYS", () => {
  it("names each key once, with what it does", () => {
    expect(new Set(KEYS.map(({ key }) => key)).size).toBe(KEYS.length);
    expect(KEYS.every(({ does }) => does !== "" && !/[.!]$/.test(does))).toBe(true);
  });
});
