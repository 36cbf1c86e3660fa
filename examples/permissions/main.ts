// What an agent may do unasked: rules, what tools say of their calls, what a person allows for good, and rules from elsewhere. All of it is checked.
import assert from "node:assert/strict";

// #region smallest
import { createAgent, createRunner, defineTool } from "keelson";
import { readCommandLine } from "keelson/environment";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

const bash = defineTool({
  name: "bash",
  description: "Runs a command line.",
  risk: "high",
  category: "shell",
  input: z.object({ command: z.string() }),
  permissionText: ({ command }) => command, // what rules such as bash(npm test*) are held against
  effectsOf: ({ command }, where) => readCommandLine(command, where), // and what it would start, read and write
  execute: ({ command }) => `ran: ${command}`,
});
const lines = ["npm test 2>&1 | tail -5", "git status", "npm test; rm -rf build", "cat .env"];
const agent = createAgent({
  name: "coder",
  model: scriptedModel([{ toolCalls: lines.map((command) => ({ name: "bash", input: { command } })) }, "Done."]),
  tools: [bash],
  permissions: { rules: [{ pattern: "bash(npm test*)", behavior: "allow" }] },
});
const asked: string[] = [];
const runner = createRunner({ agent, approvals: ({ reason }) => (asked.push(reason), { type: "deny" }) });
await runner.run("Test it.").outcome;
console.log(asked.join("\n"));
// #endregion

assert.deepEqual(
  asked.map((reason) => /Not allowed yet: .*?\.|It is sensitive: .*?\. /.exec(reason)?.[0].trim()),
  ['Not allowed yet: "rm -rf build": no rule allows it.', 'It is sensitive: it reads ".env".'],
);

// #region effects
const copyFile = defineTool({
  name: "copy_file",
  description: "Copies a file.",
  risk: "medium",
  category: "edit",
  input: z.object({ from: z.string(), to: z.string() }),
  effectsOf: ({ from, to }) => ({ reads: [from], writes: [to] }),
  execute: ({ from, to }) => `copied ${from} to ${to}`,
});
const copier = createAgent({
  name: "copier",
  model: scriptedModel([
    {
      toolCalls: [
        { name: "copy_file", input: { from: "src/a.ts", to: "docs/a.ts" } },
        { name: "copy_file", input: { from: "private/../private/x", to: "docs/x" } },
        { name: "copy_file", input: { from: "src/a.ts", to: ".git/hooks/pre-commit" } },
      ],
    },
    "Copied.",
  ]),
  tools: [copyFile],
  permissions: { mode: "accept-edits", rules: [{ pattern: "read_file(private/**)", behavior: "deny" }] },
});
// #endregion
const questions: string[] = [];
const copying = createRunner({ agent: copier, approvals: ({ reason }) => (questions.push(reason), { type: "deny" }) });
await copying.run("Copy them.", { session: "copies" }).outcome;
const outputs = (await copying.sessions.get("copies")).messages.flatMap(({ content }) =>
  content.flatMap((part) => (part.type === "tool-result" ? [String(part.output)] : [])),
);
assert.equal(outputs[0], "copied src/a.ts to docs/a.ts");
assert.match(outputs[1] ?? "", /The permission rule "read_file\(private\/\*\*\)" denies it/);
assert.match(questions.join(), /^It is sensitive: it writes "\.git\/hooks\/pre-commit"/);

// #region always
const commands = ["npm publish --dry-run", "npm publish", "npm install left-pad"];
const publisher = createAgent({
  name: "publisher",
  model: scriptedModel([...commands.map((command) => ({ toolCalls: [{ name: "bash", input: { command } }] })), "Published."]),
  tools: [bash],
});
const granted: string[] = [];
const publishing = createRunner({
  agent: publisher,
  approvals({ always = [] }) {
    // The choices for a shell: exactly this, and this program and subcommand.
    const rules = always.find(({ scope }) => scope === "command")?.rules ?? [];
    granted.push(...rules);
    return { type: "allow-always", rules };
  },
});
await publishing.run("Publish it.").outcome;
// #endregion
assert.deepEqual(granted, ["bash(npm publish **)", "bash(npm install **)"]);

// #region policy
import { explainCall, readPolicy } from "keelson/security";

// As it stands in a file; loadPolicy(path) reads one.
const policy = readPolicy({
  permissions: { allow: ["bash(npm test*)"], deny: ["bash(git push*)"] },
  filesystem: { deniedPaths: ["private"] },
  network: { enabled: true, deniedDomains: ["bad.example"] },
  commands: { denied: ["curl"] },
});
const bound = createAgent({ name: "bound", model: scriptedModel(["Done."]), tools: [bash], permissions: policy.permissions });
const { decision, parts } = await explainCall({
  tool: bash,
  input: { command: "npm test && cat private/key" },
  policies: [{ mode: "default", ...policy.permissions }],
  cwd: "/work",
});
for (const { behavior, kind, text, reason } of parts) console.log(behavior, kind, text, reason);
// #endregion
assert.equal(bound.name, "bound");
assert.equal(decision.behavior, "deny");
assert.deepEqual(
  parts.map(({ behavior, kind, text }) => `${behavior} ${kind} ${text}`),
  ["allow command npm test", "allow command cat private/key", "deny read /work/private/key"],
);

// #region claude
import { rulesFromClaude } from "keelson/agent";

const settings = {
  permissions: {
    allow: ["Bash(npm run test:*)", "Edit(docs/**)", "WebSearch"],
    deny: ["Read(./.env)", "Read(~/.aws/**)"],
    defaultMode: "acceptEdits",
  },
};
const { mode, rules, untranslated } = rulesFromClaude(settings, { home: "/home/ada" });
// #endregion
assert.equal(mode, "accept-edits");
assert.deepEqual(
  rules.map(({ behavior, pattern }) => `${behavior} ${pattern}`),
  [
    "deny read_file(.env)",
    "deny read_file(.env/**)",
    "deny read_file(/home/ada/.aws/**)",
    "deny read_file(~/.aws/**)",
    "allow bash(npm run test *)",
    "allow edit_file(docs/**)",
  ],
);
assert.deepEqual(untranslated, [{ rule: "WebSearch", behavior: "allow", why: "There is no tool here that is what WebSearch is there." }]);
