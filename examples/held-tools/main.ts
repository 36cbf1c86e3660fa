// An agent with a shell that may write the project and nothing else; where that can't be held, it doesn't begin.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "keelson/testing";

// Not in the folder for temporary files, of which every sandbox has its own.
const project = await mkdtemp(join(homedir(), ".keelson-example-"));
const model = scriptedModel([
  {
    toolCalls: [
      { name: "shell", input: { command: "echo kept > notes.txt; cat ~/.ssh/* ; curl example.com; echo x > ../out; cat notes.txt" } },
    ],
  },
  "Done.",
]);

// #region environment
import { createAgent, createRunner, defineTool } from "keelson";
import { createSandboxEnvironment } from "keelson/environment";

const shell = defineTool({
  name: "shell",
  description: "Runs a command line in the project.",
  effect: "write",
  input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  async execute(input, { exec, signal }) {
    const { command } = input as { command: string };
    return (await exec?.execute({ command, signal }))?.stdout ?? "There is nothing to run it with.";
  },
});
const agent = createAgent({
  name: "keeper",
  model,
  tools: [shell],
  permissions: { rules: [{ pattern: "shell", behavior: "allow" }] },
  sandbox: { enabled: true, filesystem: { allowedRoots: ["."], deniedPaths: [".env"] }, deniedCommands: ["git"] },
});
const runner = createRunner({ agent, environment: createSandboxEnvironment({ workspace: project }) });
const { reason, error } = await runner.run("Keep a note.").outcome;
// #endregion

await rm(project, { recursive: true });
if (reason === "error") {
  // Without bubblewrap nothing runs.
  assert.match(error.message, /sandbox/);
  console.log(`not begun: ${error.message}`);
} else {
  assert.equal(reason, "complete");
  const results = model.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool"));
  assert.match(JSON.stringify(results), /kept/);
  console.log("it kept a note, and reached neither keys, network nor the folder above");
}
