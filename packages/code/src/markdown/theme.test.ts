import { describe, expect, it } from "vitest";
import { chooseTheme, createTheme } from "./theme.ts";

describe("createTheme", () => {
  it("paints a look with the colours of its role and its emphasis, and nothing else", () => {
    const theme = createTheme("ansi");
    expect(theme.paint("x", { role: "heading", italic: true })).toBe("\u001b[1;3mx\u001b[0m");
    expect(theme.paint("x", {})).toBe("x");
    expect(theme.paint("", { bold: true })).toBe("");
  });

  it("writes no escape sequence without colours, and keeps the marks instead", () => {
    const theme = createTheme("none");
    expect([theme.paint("x", { role: "title", bold: true }), theme.marks]).toEqual(["x", true]);
  });
});

describe("chooseTheme", () => {
  const base = { colors: true, environment: {} };

  it("follows the terminal's own colours unless another theme is set", () => {
    expect(chooseTheme(base)).toBe("ansi");
    expect(chooseTheme({ ...base, setting: "light" })).toBe("light");
  });

  it("is `none` without colours, whatever is set", () => {
    expect(chooseTheme({ ...base, colors: false, setting: "dark" })).toBe("none");
  });

  it.each([
    ["rgb:1e1e/1e1e/1e1e", "dark"],
    ["rgb:ff/ff/ff", "light"],
    ["rgb:fdf6/e3e3/d5d5", "light"],
    ["\u001b]11;rgba:0000/2b2b/3636/ffff\u0007", "dark"],
    ["nonsense", "ansi"],
  ])("takes the background %j for %s if the setting is `auto`", (background, expected) => {
    expect(chooseTheme({ ...base, setting: "auto", background })).toBe(expected);
  });

  it.each([
    ["15;0", "dark"],
    ["0;15", "light"],
    ["0;default;7", "light"],
    ["12;8", "dark"],
    ["x", "ansi"],
  ])("reads COLORFGBG %j as %s if the terminal reports no background", (value, expected) => {
    expect(chooseTheme({ ...base, setting: "auto", environment: { COLORFGBG: value } })).toBe(expected);
  });
});
