import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { allowInProject } from "../src/core/project-rules.ts";
import { openDesk } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

it("what is always allowed in a project runs there at the next start, nowhere else, and no longer once it is taken back", async () => {
  await using desk = await openDesk(
    ({ index }) =>
      index % 2 === 0 ? { toolCalls: [{ name: "write_file", input: { path: `made-${index}`, content: "x" } }] } : { text: "Made it." },
    { "sub/x": "" },
  );
  await desk.keelson("doctor");
  await allowInProject({ permissions: join(desk.home, "permissions.jsonl") }, desk.project, ["write_file"], 1);
  const shown = await desk.keelson("permissions");
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^Always allowed in .*project:\n {2}write_file\n/)]);
  expect((await desk.keelson("permissions", "-C", "sub")).stdout).toMatch(/^Nothing is always allowed in this project/);

  expect((await desk.keelson("-p", "go")).stdout).toBe("Made it.\n");
  const elsewhere = await desk.keelson("-p", "-C", "sub", "go");
  expect(elsewhere.code).toBe(4);
  const removed = await desk.keelson("permissions", "remove", "write_file");
  expect([removed.code, removed.stdout]).toEqual([0, "removed: write_file is asked about again\n"]);
  const again = await desk.keelson("permissions", "remove", "write_file");
  expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/"write_file" is not always allowed in/)]);
  expect(JSON.parse((await desk.keelson("permissions", "list", "--all", "--json")).stdout)).toEqual([]);
  // The repository holds what the agent made, and nothing of what it may do.
  expect(await readdir(desk.project)).toEqual(["made-0", "sub"]);
});
