import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, defineTool } from "keelson";
import { createHookRegistry, createShellHook } from "keelson/agent";
import { createProcessExecutor } from "keelson/environment";
import { scriptedModel } from "keelson/testing";
import type { ExecuteRequest } from "@keelson/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "keelson/session";
import { runnerOf } from "./support.ts";

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "keelson-cwd-")));
  await mkdir(join(root, "project", "src"), { recursive: true });
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Where a command of a tool runs, for an agent that works in `cwd`. */
async function placeOf(cwd: string | undefined, request: Omit<ExecuteRequest, "command"> = {}): Promise<string | undefined> {
  let place: string | undefined;
  const tool = defineTool({
    name: "where",
    description: "Says where commands run.",
    effect: "read",
    input: { type: "object" },
    async execute(_input, { exec }) {
      place = (await exec?.execute({ command: "pwd", ...request } as ExecuteRequest))?.stdout.trim();
      return "seen";
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "where", input: {} }] }, "done"]);
  const agent = createAgent({ name: "a", model, tools: [tool], ...(cwd !== undefined && { cwd }) });
  const { reason } = await runnerOf(agent, { clock: systemClock, exec: createProcessExecutor({ cwd: root }) }).run("go").outcome;
  expect(reason).toBe("complete");
  return place;
}

it("commands of tools run in the working directory of their agent, where they name no other", async () => {
  const project = join(root, "project");
  expect(await placeOf(undefined)).toBe(root);
  expect(await placeOf(project)).toBe(project);
  expect(await placeOf(project, { cwd: "src" })).toBe(join(project, "src"));
  expect(await placeOf(project, { cwd: root })).toBe(root);
});

it("commands of hooks run there as well", async () => {
  const project = join(root, "project");
  const warnings: string[] = [];
  const exec = createProcessExecutor({ cwd: root });
  const hooks = createHookRegistry()
    .onSessionStart(createShellHook({ command: `echo "{\\"systemMessage\\":\\"$(pwd)\\"}"`, exec }))
    .onNotification("*", ({ message }) => void warnings.push(message));
  const agent = createAgent({ name: "a", model: scriptedModel(["done"]), hooks, cwd: project });
  await runnerOf(agent, { clock: systemClock }).run("go").outcome;
  expect(warnings.join()).toContain(project);
});
