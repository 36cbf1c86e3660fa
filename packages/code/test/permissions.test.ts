import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { allowInProject } from "../src/core/project-rules.ts";
import { openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

it("what is always allowed in a project runs there at the next start, nowhere else, and no longer once it is taken back", async () => {
  await using workspace = await openWorkspace(
    ({ index }) =>
      index % 2 === 0 ? { toolCalls: [{ name: "write_file", input: { path: `made-${index}`, content: "x" } }] } : { text: "Made it." },
    { "sub/x": "" },
  );
  await workspace.keelson("doctor");
  await allowInProject({ permissions: join(workspace.home, "permissions.jsonl") }, workspace.project, ["write_file"], 1);
  const shown = await workspace.keelson("permissions");
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^Always allowed in .*project:\n {2}write_file\n/)]);
  expect((await workspace.keelson("permissions", "-C", "sub")).stdout).toMatch(/^Nothing is always allowed in this project/);

  expect((await workspace.keelson("-p", "go")).stdout).toBe("Made it.\n");
  const elsewhere = await workspace.keelson("-p", "-C", "sub", "go");
  expect(elsewhere.code).toBe(4);
  const removed = await workspace.keelson("permissions", "remove", "write_file");
  expect([removed.code, removed.stdout]).toEqual([0, "removed: write_file is asked about again\n"]);
  const again = await workspace.keelson("permissions", "remove", "write_file");
  expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/"write_file" is not always allowed in/)]);
  expect(JSON.parse((await workspace.keelson("permissions", "list", "--all", "--json")).stdout)).toEqual([]);
  // The repository holds what the agent made, and nothing of what it may do.
  expect(await readdir(workspace.project)).toEqual(["made-0", "sub"]);
});
