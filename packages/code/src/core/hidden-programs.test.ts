import type { PermissionRule } from "@keelson/protocol";
import { expect, it } from "vitest";
import { hiddenPrograms } from "./hidden-programs.ts";

it("a deny rule about every call of a program hides the program, and one about some of its calls does not", () => {
  const deny = (...patterns: readonly string[]): readonly string[] =>
    hiddenPrograms(patterns.map((pattern): PermissionRule => ({ pattern, behavior: "deny" })));
  expect(deny("bash(curl)", "bash(wget *)", "bash(nc*)", "bash(/usr/bin/ssh *)", "bash(scp **)", "bash(curl *)")).toEqual([
    "curl",
    "wget",
    "nc",
    "/usr/bin/ssh",
    "scp",
  ]);
  expect(
    deny("bash", "bash(*)", "bash(git push*)", "bash(git push)", "bash(*curl*)", "read_file(curl)", "outside(npm)", "host(curl)"),
  ).toEqual([]);
  expect(
    hiddenPrograms([
      { pattern: "bash(curl)", behavior: "ask" },
      { pattern: "bash(curl)", behavior: "allow" },
    ]),
  ).toEqual([]);
});
