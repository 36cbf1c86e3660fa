import { readFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, createAgent } from "keelson";
import { hooksFromJson } from "keelson/agent";
import { createProcessExecutor } from "keelson/environment";
import { systemClock } from "keelson/session";
import { scriptedModel } from "keelson/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, watch } from "./support.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-shell-hooks-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const NOTE = `cat >> notes; echo >> notes`;

it("settings that coding agents share work on a run: they block, tell the model, note what happens, each for what it matches [HK-08, AG-13]", async () => {
  const command = (line: string) => [{ type: "command", command: line }];
  const hooks = hooksFromJson(
    {
      hooks: {
        PreToolUse: [
          { matcher: "Write|Edit", hooks: command(NOTE) },
          { matcher: "Write", hooks: command("grep -q secret && { echo 'no secrets' >&2; exit 2; }; exit 0") },
        ],
        PostToolUse: [{ matcher: "W.*", hooks: command("echo 'line too long' >&2; exit 2") }],
        SubagentStart: [{ matcher: "helper", hooks: command(NOTE) }],
        SubagentStop: [{ matcher: "other", hooks: command(NOTE) }],
        SessionStart: [
          { matcher: "resume", hooks: command("exit 2") },
          { matcher: "startup", hooks: command(NOTE) },
        ],
        SessionEnd: [{ matcher: "", hooks: command(NOTE) }],
      },
    },
    { exec: createProcessExecutor({ cwd: folder }), toolNames: { write: "Write", look: "Read" } },
  );
  const model = scriptedModel([
    {
      toolCalls: [
        { name: "write", input: { text: "a secret" } },
        { name: "write", input: { text: "hello" } },
        { name: "look" },
        { name: "helper", input: { task: "help" } },
      ],
    },
    "done",
  ]);
  const write = recordingTool("write");
  const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
  const agent = createAgent({
    name: "a",
    model,
    cwd: folder,
    hooks,
    tools: [write, recordingTool("look", { effect: "read" }), agentTool(helper)],
  });
  const { outcome, events } = await watch(runnerOf(agent, { clock: systemClock }).run("go", { session: "s" }));
  expect(outcome.reason).toBe("complete");
  expect(write.calls).toEqual([{ text: "hello" }]);
  expect(ofType(events, "tool-result").filter(({ path }) => path === undefined)[0]?.output).toMatch(
    /^Refused by the hook "grep.*": no secrets$/,
  );
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("line too long");
  const notes = (await readFile(join(folder, "notes"), "utf8"))
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as object]));
  expect(notes).toMatchObject([
    { hook_event_name: "SessionStart", source: "startup", cwd: folder, session_id: "s" },
    { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: { text: "a secret" } },
    { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: { text: "hello" } },
    { hook_event_name: "SubagentStart", agent_type: "helper", prompt: "help" },
    { hook_event_name: "SessionEnd", reason: "complete" },
  ]);
});
