import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallEffects, Executor, JsonValue, ToolOutput } from "@keelson/protocol";
import { createDiskVfs, createProcessExecutor } from "keelson/environment";
import { afterEach, beforeEach, expect, it } from "vitest";
import { QUIET_HISTORY, toolCall } from "../../test/tool-workspace.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createCodingTools } from "./create-coding-tools.ts";

let root: string;
beforeEach(() => void (root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-leaving-")))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Tools over two executors that say which of them ran a command. */
function createTools(unavailable?: string) {
  const inside: Executor = {
    ...createProcessExecutor({ cwd: root, env: { PLACE: "inside" } }),
    confine: (effects: CallEffects) => ({ ...effects, confined: { refused: [] } }),
  };
  const outside = createProcessExecutor({ cwd: root, env: { PLACE: "outside" } });
  const published: number[] = [];
  const publish = async (port: number): Promise<void> => void published.push(port);
  const tools = createCodingTools({
    exec: inside,
    leaving: { outside, publish, ...(unavailable !== undefined && { unavailable }) },
  });
  const context = createWorkspace({ files: createDiskVfs({ root }), history: QUIET_HISTORY });
  const tool = (name: string) => tools.find((one) => one.name === name);
  const call = async (name: string, input: JsonValue): Promise<ToolOutput> => {
    const parsed = await tool(name)?.parse(input);
    if (parsed === undefined || parsed.issues !== undefined) throw new Error(JSON.stringify(parsed));
    return tool(name)?.execute(parsed.value, toolCall({ context })) as Promise<ToolOutput>;
  };
  return { call, published, effectsOf: (input: JsonValue) => tool("bash")?.effectsOf?.(input, { cwd: root }) };
}

it("a command runs inside unless it asks to leave, and says so in its effects", async () => {
  const { call, effectsOf } = createTools();
  expect(await call("bash", { command: "echo $PLACE" })).toContain("inside");
  expect(await call("bash", { command: "echo $PLACE", outside: true, reason: "a reason" })).toContain("outside");
  expect(await effectsOf({ command: "echo x" })).toMatchObject({ confined: { refused: [] } });
  const leaves = await effectsOf({ command: "curl https://a.com", outside: true, reason: "a reason", hosts: ["b.com"], publish: [3000] });
  expect(leaves).toMatchObject({ outside: { reason: "a reason" }, hosts: ["a.com"] });
  expect(leaves).not.toHaveProperty("confined");
  expect(leaves).not.toHaveProperty("ports");
  expect(await effectsOf({ command: "x", outside: true })).toMatchObject({ outside: { reason: "no reason was given" } });
});

it("a command in the background outside of the sandbox is read and ended like one inside", async () => {
  const { call } = createTools();
  const started = await Promise.all(
    [false, true].map((outside) =>
      call("bash", { command: "echo $PLACE; sleep 60", run_in_background: true, outside, reason: "a reason" }),
    ),
  );
  for (const [index, place] of ["inside", "outside"].entries()) {
    const id = /job_\w+/.exec(String(started[index]))?.[0] ?? "";
    expect(await call("bash_output", { id, wait_seconds: 20 })).toMatch(new RegExp(`^${place}\n`));
    expect(await call("kill_bash", { id })).toContain(`${id} killed`);
  }
});

it("ports are published for commands inside alone, and each once", async () => {
  const { call, published } = createTools();
  expect(await call("bash", { command: "true", publish: [3000, 3001, 3000] })).toMatch(/port 3000 .*127\.0\.0\.1:3000.*\n\[port 3001/);
  await call("bash", { command: "true", publish: [4000], outside: true, reason: "a reason" });
  expect(published).toEqual([3000, 3001]);
});

it("the first result says that nothing outlives a command, where that is so", async () => {
  const { call } = createTools("no nsenter");
  expect(await call("bash", { command: "true" })).toContain("new for every command here: no nsenter");
  expect(await call("bash", { command: "true" })).not.toContain("nsenter");
});
