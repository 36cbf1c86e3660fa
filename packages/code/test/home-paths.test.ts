import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openWorkspace, resultsIn } from "./keelson-process.ts";

// The test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

it("~ is the home folder in --add-dir, in paths of tools and in rules, which bind commands as well", async () => {
  await using workspace = await openWorkspace(
    [
      {
        toolCalls: [
          { name: "read_file", input: { path: "~/notes/a.txt" } },
          { name: "read_file", input: { path: "./~/notes/a.txt" } },
          { name: "bash", input: { command: "cat ~/notes/private/b.txt" } },
          { name: "read_file", input: { path: "~/notes/private/b.txt" } },
        ],
      },
      { text: "Read." },
      { toolCalls: [{ name: "read_file", input: { path: "~/notes/a.txt" } }] },
      { text: "Not read." },
    ],
    { "~/notes/a.txt": "in the project\n" },
  );
  const notes = join(workspace.environment["HOME"] ?? "", "notes");
  await mkdir(join(notes, "private"), { recursive: true });
  await writeFile(join(notes, "a.txt"), "at home\n");
  await writeFile(join(notes, "private/b.txt"), "for me alone\n");
  const args = ["-p", "--add-dir", "~/notes", "--deny", "read_file(~/notes/private/**)", "--allow", "bash(cat *)", "--on-approval", "deny"];
  expect((await workspace.keelson(...args, "read")).code).toBe(0);
  const results = resultsIn(workspace.server.requests[1] as never);
  for (const text of ["at home", "in the project"]) expect(results).toContain(text);
  expect(results).not.toContain("for me alone");

  const unset = await workspace.start(["-p", "--add-dir", "~/notes", "read"], { env: { HOME: "" } }).finished;
  expect([unset.code, unset.stderr]).toEqual([
    2,
    expect.stringMatching(/~\/notes is in the home folder, and HOME names none[\s\S]*absolute path/),
  ]);
  const without = await workspace.start(["-p", "read"], { env: { HOME: "" } }).finished;
  expect(without.code).toBe(0);
  expect(resultsIn(workspace.server.requests[3] as never)).toContain("HOME names none: give an absolute path");
});
