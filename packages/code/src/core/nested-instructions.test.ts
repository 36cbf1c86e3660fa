import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool, ToolCall } from "@keelson/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withNestedInstructions } from "./nested-instructions.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), "keelson-nested-")));
  await mkdir(join(cwd, "web"));
  await writeFile(join(cwd, "AGENTS.md"), "Top rule.");
  await writeFile(join(cwd, "web", "AGENTS.md"), "Web rule.");
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

function reader(name = "read_file"): (path: string, session: string) => Promise<unknown> {
  const [tool] = withNestedInstructions([{ name, execute: () => "content" } as unknown as Tool], { cwd });
  return async (path, session) => tool?.execute({ path }, { session } as ToolCall);
}

it("tells a folder's own instructions when something in it is first touched, once a session", async () => {
  const read = reader();
  expect(await read("web/a.ts", "s1")).toMatch(/^content\n\n\[For work in this folder:[\s\S]*Web rule\.\]$/);
  expect(await read("web/b.ts", "s1")).toBe("content");
  expect(await read("web/b.ts", "s2")).toMatch(/Web rule/);
});

it("does not repeat what the prompt holds, and leaves other tools alone", async () => {
  expect(await reader()("a.ts", "s1")).toBe("content");
  expect(await reader("bash")("web/a.ts", "s1")).toBe("content");
});
