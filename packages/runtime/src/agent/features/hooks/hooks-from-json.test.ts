import type { ExecuteRequest, Executor, JsonObject } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool } from "../../../../test/agent/support.ts";
import { hooksFromJson, type HooksFromJsonOptions } from "./hooks-from-json.ts";

const EDIT = { path: "src/a.ts", old_string: "x", new_string: "y" };
const BASH = { command: "ls", timeout_seconds: 2 };

/** Calls `edit_file` and `bash` in an agent with a hook under this matcher, and returns what the command read. */
async function readBy(matcher: string | undefined, spelling?: HooksFromJsonOptions["spelling"]): Promise<readonly JsonObject[]> {
  const read: JsonObject[] = [];
  const exec = {
    async execute({ stdin }: ExecuteRequest) {
      const { tool_name, tool_input } = JSON.parse(String(stdin)) as JsonObject;
      read.push({ tool_name, tool_input });
      return { exitCode: 0, signal: null, stdout: "", stderr: "", stdoutBytes: 0, stderrBytes: 0 };
    },
  } as unknown as Executor;
  const settings = {
    hooks: { PreToolUse: [{ ...(matcher !== undefined && { matcher }), hooks: [{ type: "command", command: "check" }] }] },
  };
  const calls = {
    toolCalls: [
      { name: "edit_file", input: EDIT },
      { name: "bash", input: BASH },
    ],
  };
  const agent = createAgent({
    name: "a",
    model: scriptedModel([calls, "done"]),
    tools: [recordingTool("edit_file"), recordingTool("bash")],
    hooks: hooksFromJson(settings, { exec, spelling }),
    cwd: "/work",
  });
  await createRunner({ agent }).run("go").outcome;
  return read;
}

describe("a hook of settings that coding agents share", () => {
  it("reads the name and the arguments of a tool as the author of its matcher knows them [HK-08, HK-11]", async () => {
    const edit = { tool_name: "Edit", tool_input: { file_path: "/work/src/a.ts", old_string: "x", new_string: "y" } };
    const bash = { tool_name: "Bash", tool_input: { command: "ls", timeout: 2_000 } };
    expect(await readBy("Bash|Edit|Write")).toEqual([edit, bash]);
    expect(await readBy("^(Edit|Write)$")).toEqual([edit]);
    expect(await readBy("str_replace_editor")).toEqual([
      { tool_name: "str_replace_editor", tool_input: { command: "str_replace", path: "/work/src/a.ts", old_str: "x", new_str: "y" } },
    ]);
  });

  it("reads ours under a matcher with our name, and under one that matches everything", async () => {
    const edit = { tool_name: "edit_file", tool_input: EDIT };
    expect(await readBy("edit_file|Write")).toEqual([edit]);
    for (const matcher of [undefined, "*", ".*"])
      expect(await readBy(matcher), matcher).toEqual([edit, { tool_name: "bash", tool_input: BASH }]);
  });

  it("reads the names and arguments of Claude Code under every matcher, if it was written for that", async () => {
    const edit = { tool_name: "Edit", tool_input: { file_path: "/work/src/a.ts", old_string: "x", new_string: "y" } };
    const bash = { tool_name: "Bash", tool_input: { command: "ls", timeout: 2_000 } };
    for (const matcher of [undefined, "*", ".*"]) expect(await readBy(matcher, "claude"), matcher).toEqual([edit, bash]);
    expect(await readBy("edit_file", "claude")).toEqual([edit]);
    expect(() => hooksFromJson({}, { exec: {} as Executor, spelling: "codex" as never })).toThrow(/spelling/);
  });

  it("is added to the registry that is given, after those that it has", () => {
    const settings = (command: string) => ({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } });
    const registry = hooksFromJson(settings("first"), { exec: {} as Executor });
    expect(hooksFromJson(settings("second"), { exec: {} as Executor, registry })).toBe(registry);
    expect(registry.hooks.map(({ name }) => name)).toEqual(["first", "second"]);
  });

  it("runs in the sandbox that is given if its entry says so, and is refused without one", async () => {
    const ran: string[] = [];
    const executor = (name: string): Executor =>
      ({
        async execute() {
          ran.push(name);
          return { exitCode: 0, signal: null, stdout: "", stderr: "", stdoutBytes: 0, stderrBytes: 0 };
        },
      }) as unknown as Executor;
    const settings = (sandbox: unknown): object => ({ hooks: { SessionStart: [{ hooks: [{ type: "command", command: "x", sandbox }] }] } });
    const exec = executor("outside");
    for (const sandbox of [true, false, undefined]) {
      const hooks = hooksFromJson(settings(sandbox), { exec, sandboxExec: executor("inside") });
      await createRunner({ agent: createAgent({ name: "a", model: scriptedModel(["done"]), hooks }) }).run("go").outcome;
    }
    expect(ran).toEqual(["inside", "outside", "outside"]);
    expect(() => hooksFromJson(settings(true), { exec })).toThrow(/hooks\[0\]\.sandbox: there is no sandbox here/);
    expect(() => hooksFromJson(settings("yes"), { exec, sandboxExec: exec })).toThrow(/sandbox must be true or false, not "yes"/);
  });

  it("is an error of the agent if its matcher names no tool that is there", async () => {
    await expect(readBy("Wirte|Raed")).rejects.toThrow(/"Wirte\|Raed", which can match no tool of the agent/);
  });
});
