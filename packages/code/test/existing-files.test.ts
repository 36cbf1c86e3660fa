import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openTerminal } from "./keelson-terminal.ts";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";
import { NOTE_SERVER } from "./note-server.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

/** A repository as people have it who use several agents. */
const PROJECT = {
  "CLAUDE.md": "Say heron.\n@docs/style.md\n",
  "docs/style.md": "Say plover.\n",
  "AGENTS.md": "Say teal.\n",
  "AGENTS.override.md": "Say curlew.\n",
  "web/CLAUDE.md": "Say avocet.\n",
  "web/a.txt": "content\n",
  "private.txt": "a secret of the project\n",
  "hook.sh": 'echo "$1 $MODE_OF_PROJECT" >> hooks.txt\n',
  ".claude/settings.json": `{
    // as other people share them
    "model": "claude-haiku-4-5",
    "env": { "MODE_OF_PROJECT": "fast" },
    "permissions": { "allow": ["Bash(touch allowed.txt)", "mcp__notes__list"], "deny": ["Read(./private.txt)"] },
    "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "sh ./hook.sh bash" }] }] },
    "statusLine": { "type": "command", "command": "sh ./status.sh" },
  }`,
  ".keelson/settings.json": JSON.stringify({ permissions: { allow: ["bash(touch also.txt)"] }, effort: "low" }),
  ".claude/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys the site.\n---\nRun the steps of the deployment.\n",
  ".claude/commands/web/fix.md": "---\ndescription: Fixes a part\n---\nPlease repair $ARGUMENTS now.\n",
  ".mcp.json": `{
    // written for an editor
    "servers": {
      "notes": { "command": "node", "args": ["notes.mjs"], "env": { "NOTES": "\${env:WORD_OF_NOTES}" } },
      "far": { "httpUrl": "http://127.0.0.1:9/mcp", "headers": { "X-Word": "\${env:WORD_OF_NOTES}" } },
      "asks": { "command": "node", "args": ["notes.mjs"], "env": { "TOKEN": "\${input:api-token}" } },
    },
  }`,
  "notes.mjs": NOTE_SERVER,
};
/** Everything of it that needs trust. */
const NEEDS_TRUST = [
  ...["CLAUDE.md", "AGENTS.override.md", "web/CLAUDE.md", ".claude/settings.json", ".keelson/settings.json"],
  ...[".claude/skills/deploy/SKILL.md", ".mcp.json#notes", ".mcp.json#far"],
];
const ENV = { WORD_OF_NOTES: "a word for notes" };

const CALLS = [
  { name: "bash", input: { command: "touch allowed.txt" } },
  { name: "bash", input: { command: "touch also.txt" } },
  { name: "bash", input: { command: "echo mode:$MODE_OF_PROJECT" } },
  { name: "read_file", input: { path: "private.txt" } },
  { name: "read_file", input: { path: "web/a.txt" } },
];

/** Makes all calls, one more if it is offered, and ends. */
const openProject = (): Promise<Workspace> =>
  openWorkspace(({ index, body }) => {
    if (index % 2 === 1) return { text: "done" };
    const isOffered = JSON.stringify(body).includes("mcp__notes__list");
    return { toolCalls: [...CALLS, ...(isOffered ? [{ name: "mcp__notes__list", input: {} }] : [])] };
  }, PROJECT);

const run = (workspace: Workspace, ...args: readonly string[]) =>
  workspace.start(["-p", "--on-approval", "deny", ...args], { env: ENV }).finished;

interface Found {
  readonly what: string;
  readonly state: string;
  readonly detail: string;
}
const doctor = async (workspace: Workspace): Promise<readonly Found[]> =>
  JSON.parse((await workspace.start(["doctor", "--json"], { env: ENV }).finished).stdout) as readonly Found[];

/** What a finding says of a thing, in one line. */
const of = (found: readonly Found[], what: string, part = ""): string =>
  found
    .filter((finding) => finding.what === what && finding.detail.includes(part))
    .map(({ state, detail }) => `${state}: ${detail}`)
    .join("\n");

describe("a repository with files for several agents", () => {
  it("runs nothing and obeys nothing before it is trusted, but for rules that deny, and names each thing that is left out", async () => {
    await using workspace = await openProject();
    const { project, server } = workspace;
    const { code, stdout, stderr } = await run(workspace, "go");
    expect([code, stdout]).toEqual([0, "done\n"]);
    const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
    for (const word of ["heron", "plover", "curlew", "teal", "avocet", "mcp__notes", "Deploys the site", "mode:fast"]) {
      expect(first).not.toContain(word);
      expect(second).not.toContain(word);
    }
    expect(server.requests[0]?.body["model"]).toBe("claude-sonnet-5");
    expect(resultsIn(server.requests[1] as never)).not.toContain("a secret of the project");
    for (const path of ["allowed.txt", "also.txt", "hooks.txt", "started.txt"])
      expect([path, existsSync(join(project, path))]).toEqual([path, false]);
    for (const path of NEEDS_TRUST) expect(stderr).toContain(`nobody trusts it as it is: ${path}. To use it: keelson trust accept ${path}`);

    const command = await run(workspace, "/web:fix the header");
    expect([command.code, command.stderr]).toEqual([2, expect.stringContaining("keelson trust accept .claude/commands/web/fix.md")]);
    expect(server.requests).toHaveLength(2);

    const found = await doctor(workspace);
    for (const path of [
      "CLAUDE.md",
      "AGENTS.override.md",
      "web/CLAUDE.md",
      ".claude/skills/deploy/SKILL.md",
      ".claude/commands/web/fix.md",
    ])
      expect([path, of(found, path, "trust accept")]).toEqual([
        path,
        expect.stringMatching(/^missing: not used: not trusted as it is: keelson trust accept/),
      ]);
    expect(of(found, "AGENTS.md")).toMatch(/^missing: not used: .*AGENTS\.override\.md/);
    expect(of(found, "CLAUDE.md", "@docs/style.md")).toMatch(/^missing: not used: @docs\/style\.md: not imported/);
    for (const entry of ["permissions.allow Bash(touch allowed.txt)", "env MODE_OF_PROJECT", "model claude-haiku-4-5", "hooks"])
      expect(of(found, ".claude/settings.json", entry)).toMatch(
        /^missing: not used: .*not trusted as it is: keelson trust accept \.claude\/settings\.json/,
      );
    expect(of(found, ".claude/settings.json", "permissions.deny")).toMatch(/^ok: permissions\.deny Read\(\.\/private\.txt\): deny rule/);
    expect(of(found, ".claude/settings.json", "statusLine")).toMatch(/^missing: not used: statusLine: /);
    expect(of(found, ".keelson/settings.json", "effort low")).toMatch(/not trusted as it is/);
    expect(of(found, "MCP notes")).toMatch(
      /^missing: .*of \.mcp\.json of this project; nobody trusts it as it is: keelson trust accept \.mcp\.json#notes/,
    );
    expect(of(found, "MCP far")).toMatch(/^missing: .*keelson trust accept \.mcp\.json#far/);
    expect(of(found, "MCP", "api-token")).toMatch(/^broken: .*\$\{input:api-token\}.*write \$\{API_TOKEN\}/);
  });

  it("is used as a whole after it is trusted, and doctor names the source of each thing and its use", async () => {
    await using workspace = await openProject();
    const { project, server } = workspace;
    expect((await workspace.start(["trust", "accept"], { env: ENV }).finished).code).toBe(0);
    // Before the run: the server writes into a file that its script names, and what was trusted is then another.
    const found = await doctor(workspace);
    expect(of(found, "CLAUDE.md", "instructions to")).toBe("ok: instructions to the agent");
    expect(of(found, "CLAUDE.md", "@docs/style.md")).toBe("ok: @docs/style.md: imported, as a part of the instructions");
    expect(of(found, "AGENTS.md")).toMatch(/^missing: not used: .*AGENTS\.override\.md/);
    expect(of(found, "web/CLAUDE.md")).toBe("ok: instructions for work in that folder");
    expect(of(found, ".claude/settings.json", "hooks")).toMatch(/^ok: /);
    expect(of(found, ".claude/settings.json", "model")).toMatch(/^ok: model claude-haiku-4-5: the model of new sessions/);
    expect(of(found, ".claude/settings.json", "MODE_OF_PROJECT")).toMatch(/^ok: env MODE_OF_PROJECT/);
    expect(of(found, ".claude/skills/deploy/SKILL.md")).toBe("ok: the skill deploy");
    expect(of(found, ".claude/commands/web/fix.md")).toMatch(/^ok: .*\/web:fix/);
    expect(of(found, "MCP notes")).toMatch(/^ok: .*keelson mcp test notes tries it/);

    const { code, stdout, stderr } = await run(workspace, "go");
    expect([code, stdout, stderr]).toEqual([0, "done\n", expect.not.stringContaining("left out")]);
    const first = JSON.stringify(server.requests[0]?.body);
    for (const word of ["heron", "plover", "curlew", "mcp__notes__list", "Deploys the site"]) expect(first).toContain(word);
    expect([first?.includes("teal"), first?.includes("avocet"), server.requests[0]?.body["model"]]).toEqual([
      false,
      false,
      "claude-haiku-4-5",
    ]);
    const results = resultsIn(server.requests[1] as never);
    for (const text of ["mode:fast", "avocet", "a word for notes"]) expect(results).toContain(text);
    expect(results).not.toContain("a secret of the project");
    for (const path of ["allowed.txt", "also.txt", "started.txt"]) expect([path, existsSync(join(project, path))]).toEqual([path, true]);
    expect((await readFile(join(project, "hooks.txt"), "utf8")).split("\n")[0]).toBe("bash fast");
    expect(stderr).toContain("effort low of settings is not used: anthropic/claude-haiku-4-5 takes no effort");
    // A server that cannot be reached keeps no run from starting, and is named.
    expect(stderr).toMatch(/far/);
    expect(stderr).toMatch(/asks.*\$\{input:api-token\}/);

    expect((await run(workspace, "/web:fix the header")).code).toBe(0);
    expect(JSON.stringify(server.requests[2]?.body)).toContain("Please repair the header now.");
  });

  it("is shown and asked about in a terminal, and trust that was given is confirmed with what it is about", async () => {
    await using workspace = await openProject();
    await using terminal = openTerminal(workspace, [], { columns: 200, rows: 100, env: ENV });
    await terminal.until(/trust it, as it is now\?/);
    const asked = terminal.transcript();
    for (const path of [...NEEDS_TRUST.filter((one) => one !== "web/CLAUDE.md"), ".claude/commands/web/fix.md"])
      expect(asked).toContain(path);
    expect(asked).toContain("PreToolUse Bash: sh ./hook.sh bash");
    terminal.type("y\r");
    await terminal.until(/trusted, as they are now: .*AGENTS\.override\.md.*CLAUDE\.md/);
    await terminal.until(/› $/m);
    // Settings that are trusted now name the model.
    expect(terminal.transcript()).toContain("anthropic/claude-haiku-4-5");
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });

  it("gives way to the person's own settings, and a rule of any file that denies holds", async () => {
    await using workspace = await openProject();
    const { home, server, project } = workspace;
    await mkdir(home, { recursive: true, mode: 0o700 });
    await writeFile(
      join(home, "settings.json"),
      JSON.stringify({ permissions: { deny: ["bash(touch also.txt)"] }, model: "anthropic/claude-opus-4-5" }),
    );
    const local = join(project, ".claude/settings.local.json");
    await mkdir(dirname(local), { recursive: true });
    await writeFile(local, JSON.stringify({ permissions: { deny: ["Bash(touch allowed.txt)"] }, env: { MODE_OF_PROJECT: "slow" } }));
    expect((await workspace.start(["trust", "accept"], { env: ENV }).finished).code).toBe(0);
    expect((await run(workspace, "--model", "anthropic/claude-sonnet-4-5", "go")).code).toBe(0);
    expect(server.requests[0]?.body["model"]).toBe("claude-sonnet-4-5");
    for (const path of ["allowed.txt", "also.txt"]) expect([path, existsSync(join(project, path))]).toEqual([path, false]);
    expect(resultsIn(server.requests[1] as never)).toContain("mode:slow");
  });
});
