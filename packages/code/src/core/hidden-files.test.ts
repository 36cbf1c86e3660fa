import type { PermissionRule } from "@keelson/protocol";
import { expect, it } from "vitest";
import { hiddenFiles } from "./hidden-files.ts";

it("a deny rule about the reads of one file or folder hides it, and one with other wildcards or about something else does not", () => {
  const deny = (...patterns: readonly string[]): readonly string[] =>
    hiddenFiles(patterns.map((pattern): PermissionRule => ({ pattern, behavior: "deny" })));
  expect(deny("read_file(.env)", "read_file(private/**)", "read_file(/etc/x)", "read_file(a b)", "read_file(.env)")).toEqual([
    ...[".env", "private", "/etc/x", "a b"],
  ]);
  expect(
    deny("read_file", "read_file(**/.env)", "read_file(*.pem)", "read_file(a/*)", "read_file(/**)", "write_file(a)", "bash(a)"),
  ).toEqual([]);
  expect(hiddenFiles([{ pattern: "read_file(a)", behavior: "ask" }])).toEqual([]);
});
