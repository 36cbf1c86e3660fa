import { describe, expect, it } from "vitest";
import { isPlainAwk } from "./plain-awk.ts";

describe("a program of awk", () => {
  it.each([
    "{ print $1 }",
    "$3 > 100 { print $1, $2 / 2 }",
    'NR == 1 { n = split($0, a, /[,"]/) } END { print n, a[1] / n }',
    "/export/ && !/type/ { x++ } END { print (x + 1) / 2 }",
    "{ if ($1 ~ /a/) print; else print /b/ ? 1 : 2 }",
  ])("is understood if it only calculates and prints: %s", (program) => {
    expect(isPlainAwk(program)).toBe(true);
  });

  it.each([
    'BEGIN { system("x") }',
    "BEGIN { system\\\n (x) }",
    `BEGIN { system${" ".repeat(40)}(x) }`,
    "BEGIN { f #\n(x) }",
    '{ print > "out" }',
    '{ "x" | getline }',
    'BEGIN { if (1) /"/; system("x") #"/ }',
    'BEGIN { while (1) /"/; system("x") #"/ }',
    '{ exit /"/; system("x") #"/ }',
    '/a/ /"/; system("x") #"/',
    '{ x++ /"/; system("x") #"/ }',
  ])("is not understood if a reading of it starts a program or writes: %s", (program) => {
    expect(isPlainAwk(program)).toBe(false);
  });
});
