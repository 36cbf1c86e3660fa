import { describe, expect, it } from "vitest";
import { readPickerKey } from "./picker-key.ts";

describe("readPickerKey", () => {
  it.each([
    ["an arrow", "\u001b[A", { type: "move", to: "up" }],
    ["an arrow of a terminal in application mode", "\u001bOB", { type: "move", to: "down" }],
    ["an arrow with its kind of event", "\u001b[1;1:1B", { type: "move", to: "down" }],
    ["a page key", "\u001b[6~", { type: "move", to: "page-down" }],
    ["Home", "\u001b[H", { type: "move", to: "first" }],
    ["Enter", "\r", { type: "take" }],
    ["Enter of kitty", "\u001b[13u", { type: "take" }],
    ["Esc", "\u001b", { type: "leave" }],
    ["Esc of kitty", "\u001b[27u", { type: "leave" }],
    ["Ctrl-C of kitty", "\u001b[99;5u", { type: "leave" }],
    ["Ctrl-C of modifyOtherKeys", "\u001b[27;5;99~", { type: "leave" }],
    ["Tab", "\t", { type: "switch" }],
    ["Shift-Tab", "\u001b[Z", { type: "switch" }],
    ["Backspace", "\u007f", { type: "erase" }],
    ["Backspace of kitty", "\u001b[127u", { type: "erase" }],
    ["Ctrl-U", "\u0015", { type: "erase-all" }],
    ["a letter", "s", { type: "text", text: "s" }],
    ["a letter of kitty", "\u001b[115u", { type: "text", text: "s" }],
    ["a character of two code units", "🦀", { type: "text", text: "🦀" }],
    ["a paste, of which the first line counts", "\u001b[200~son net\nmore\u001b[201~", { type: "text", text: "son net" }],
  ])("reads %s", (_, sequence, key) => {
    expect(readPickerKey(sequence)).toEqual(key);
  });

  it.each([
    ["a key that is let go of", "\u001b[97;1:3u"],
    ["an arrow that is let go of", "\u001b[1;1:3A"],
    ["a function key", "\u001b[15~"],
    ["Alt with a letter", "\u001bx"],
    ["an unknown control character", "\u0001"],
    ["a report of the focus", "\u001b[I"],
    ["a code beyond Unicode", "\u001b[99999999u"],
  ])("does nothing with %s", (_, sequence) => {
    expect(readPickerKey(sequence)).toBeUndefined();
  });
});
