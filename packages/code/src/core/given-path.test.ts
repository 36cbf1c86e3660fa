import { expect, it } from "vitest";
import { UsageError } from "../options/usage-error.ts";
import { givenPath } from "./given-path.ts";

it("resolves a path that a person wrote, with ~ for their home folder", () => {
  const given = (path: string) => givenPath("/work", path, { HOME: "/home/ada" });
  expect(["~", "~/src", "~ada/src", "a/../b", "/etc", "./~/x", "."].map(given)).toEqual([
    ...["/home/ada", "/home/ada/src", "/work/~ada/src", "/work/b", "/etc", "/work/~/x", "/work"],
  ]);
});

it("refuses ~ if HOME names no folder, and resolves all other paths", () => {
  for (const HOME of [undefined, "", "home/ada"]) {
    expect(() => givenPath("/work", "~/src", { HOME })).toThrow(UsageError);
    expect(givenPath("/work", "./~/src", { HOME })).toBe("/work/~/src");
  }
});
