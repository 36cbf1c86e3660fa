// Hooks of two kinds: functions, and the shell commands of a settings file. What they did is checked.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

const folder = await mkdtemp(join(tmpdir(), "keelson-hooks-"));
const report: string[] = [];

// #region functions
import { createAgent, createRunner, defineTool } from "keelson";
import { createHookRegistry } from "keelson/agent";

const hooks = createHookRegistry()
  .onSessionStart(({ sessionId, resumed }) => void report.push(`${resumed ? "went on with" : "began"} ${sessionId}`))
  .onPreToolUse("deploy", () => ({ type: "abort", reason: "no deployments on Fridays" }), { name: "friday", guard: true })
  .onPreToolUse("send_*", () => ({ type: "ask", reason: "it goes to customers" }))
  .onPostToolUse("*", async ({ toolName }) => void report.push(`${toolName} is done`), { timeoutMs: 2_000 })
  .onSessionEnd(({ reason }) => void report.push(`ended: ${reason}`));
// #endregion

const tool = (name: string) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.object({}),
    async execute(_input, { exec }) {
      const { stdout } = (await exec?.execute({ command: 'printf %s "$REGION"' })) ?? { stdout: "" };
      return `${name} done in ${stdout}`;
    },
  });

// #region run
import { createProcessExecutor } from "keelson/environment";

const agent = createAgent({
  name: "releaser",
  model: scriptedModel([{ toolCalls: [{ name: "deploy" }, { name: "send_mail" }] }, "The mail is out, the deployment waits."]),
  tools: [tool("deploy"), tool("send_mail")],
  hooks,
  beforeTurn: ({ turn }) => (turn > 10 ? { type: "abort", reason: "ten turns are enough" } : undefined),
  afterTurn: ({ turn }, end) => void report.push(`turn ${turn}: ${end.type}`),
  env: { REGION: "north" }, // for the programs that tools start; its values never reach the log
});
const runner = createRunner({
  agent,
  exec: createProcessExecutor({ cwd: folder }),
  approvals: ({ operation, reason }) => (report.push(`asked about ${operation}: ${reason}`), { type: "allow" }),
});
const outcome = await runner.run("Release it.", { session: "release" }).outcome;
// #endregion

assert.equal(outcome.reason, "complete");
assert.deepEqual(report, [
  "began release",
  'asked about send_mail: the hook "pre-tool-use hook": it goes to customers',
  "send_mail is done",
  "turn 1: ok",
  "turn 2: ok",
  "ended: complete",
]);
const { messages } = await runner.sessions.get("release");
const results = messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "tool-result" ? [part.output] : [])));
assert.deepEqual(results, ['Refused by the hook "friday": no deployments on Fridays', "send_mail done in north"]);

const path = join(folder, "settings.json");
const settings = {
  hooks: {
    PreToolUse: [
      {
        matcher: "Bash|Write",
        hooks: [{ type: "command", command: 'grep -q "rm -rf" && { echo "ask a person first" >&2; exit 2; }; exit 0', timeout: 5 }],
      },
    ],
    PostToolUse: [{ hooks: [{ type: "command", command: "cat >> calls.jsonl" }] }],
  },
};
await writeFile(path, JSON.stringify(settings));

// #region shell
import { hooksFromJson } from "keelson/agent";

const shellHooks = hooksFromJson(JSON.parse(await readFile(path, "utf8")), {
  exec: createProcessExecutor({ cwd: folder }), // hooks run outside of what tools are given
  toolNames: { bash: "Bash" }, // the settings know our tool by another name
  guard: true, // a hook that fails or hangs refuses
});
// #endregion

const bash = defineTool({ name: "bash", description: "Runs a command.", input: z.object({ command: z.string() }), execute: () => "ran" });
const shelled = createAgent({
  name: "shelled",
  model: scriptedModel([
    {
      toolCalls: [
        { name: "bash", input: { command: "rm -rf build" } },
        { name: "bash", input: { command: "ls" } },
      ],
    },
    "Done.",
  ]),
  tools: [bash],
  hooks: shellHooks,
  cwd: folder,
});
const second = createRunner({ agent: shelled });
await second.run("Clean up.", { session: "clean" }).outcome;
const after = (await second.sessions.get("clean")).messages.flatMap(({ content }) =>
  content.flatMap((part) => (part.type === "tool-result" ? [String(part.output)] : [])),
);
assert.match(after[0] ?? "", /^Refused by the hook "grep.*": ask a person first$/);
assert.equal(after[1], "ran");
const line = JSON.parse(await readFile(join(folder, "calls.jsonl"), "utf8"));
assert.equal(line.hook_event_name, "PostToolUse");
assert.deepEqual([line.tool_name, line.tool_input, line.tool_response], ["Bash", { command: "ls" }, "ran"]);
await rm(folder, { recursive: true, force: true });
console.log(report.join("\n"));
