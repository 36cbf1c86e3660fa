import { existsSync } from "node:fs";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it, vi } from "vitest";
import type { CommandHost, OutputStream } from "../src/core/command-host.ts";
import { main } from "../src/main.ts";
import { type Finished, openWorkspace, type Workspace } from "./keelson-process.ts";
import { NOTE_SERVER } from "./note-server.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const HOOKS = JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: "command", command: "sh ./note.sh" }] }] } });
const PROJECT = {
  "AGENTS.md": "Say the word heron.",
  "web/AGENTS.md": "Say the word plover.",
  "web/a.txt": "content",
  ".keelson/hooks.json": HOOKS,
  "note.sh": "echo ran >> ran.txt\n",
};

/** Reads a file below `web`, and ends. */
const openProject = (files: { readonly [path: string]: string } = PROJECT): Promise<Workspace> =>
  openWorkspace(
    ({ index }) => (index % 2 === 0 ? { toolCalls: [{ name: "read_file", input: { path: "web/a.txt" } }] } : { text: "done" }),
    files,
  );

/** The command in this process, for what starts no run. */
async function keelson({ home, project }: Workspace, ...args: readonly string[]): Promise<Finished> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await main(args, { ...hostOf({ home, project }), stdin: new PassThrough(), stdout, stderr });
  const text = (stream: PassThrough): string => (stream.read() as Buffer | null)?.toString() ?? "";
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

function hostOf({ home, project }: Pick<Workspace, "home" | "project">): Omit<CommandHost, "stdin" | "stdout" | "stderr"> {
  return {
    environment: { KEELSON_HOME: home, NO_COLOR: "1" },
    cwd: project,
    signals: { on: () => {}, off: () => {} },
    command: "keelson",
    version: "0",
    now: Date.now,
    exit: () => {},
  };
}

/** What the newest run told the model, and whether the project's hook has run until now. */
const seen = ({ server, project }: Workspace): { readonly heron: boolean; readonly plover: boolean; readonly ran: boolean } => {
  const told = JSON.stringify(server.requests.at(-1)?.body ?? "");
  return { heron: told.includes("heron"), plover: told.includes("plover"), ran: existsSync(join(project, "ran.txt")) };
};

describe("what a repository brings", () => {
  it("is left out and runs nothing before somebody trusts it, and says how", async () => {
    await using workspace = await openProject();
    const { code, stdout, stderr } = await workspace.keelson("-p", "go");
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("done") as string });
    expect(seen(workspace)).toEqual({ heron: false, plover: false, ran: false });
    for (const path of ["AGENTS.md", "web/AGENTS.md", ".keelson/hooks.json"])
      expect(stderr).toContain(
        `left out, since nobody trusts it as it is: ${path}. To use it: keelson trust accept ${path}, or --trust for one run`,
      );
  });

  it("is listed with what it says and runs and its digest, and used once it is accepted; what is changed asks again", async () => {
    await using workspace = await openProject();
    const listed = await keelson(workspace, "trust");
    expect(listed.stdout).toContain("Say the word plover.");
    expect(listed.stdout).toContain("SessionStart: sh ./note.sh");
    expect(listed.stdout).toContain("runs note.sh");
    expect(listed.stdout.match(/not trusted/g)).toHaveLength(3);
    expect(seen(workspace).ran).toBe(false);

    expect((await keelson(workspace, "trust", "accept")).stdout).not.toContain("not trusted");
    const used = await workspace.keelson("-p", "go");
    expect(used.stderr).not.toContain("left out");
    expect(seen(workspace)).toEqual({ heron: true, plover: true, ran: true });

    await writeFile(join(workspace.project, "AGENTS.md"), "Say the word heron, loudly.");
    await writeFile(join(workspace.project, "note.sh"), "echo changed >> ran.txt\n");
    const after = await workspace.keelson("-p", "go");
    expect(after.stderr).toContain("nobody trusts it as it is: AGENTS.md");
    expect(after.stderr).toContain("nobody trusts it as it is: .keelson/hooks.json");
    expect(seen(workspace)).toMatchObject({ heron: false, plover: true });
    expect(await readFile(join(workspace.project, "ran.txt"), "utf8")).toBe("ran\n");

    const { stdout } = await keelson(workspace, "trust", "list", "--json");
    const { items } = JSON.parse(stdout) as { readonly items: readonly { readonly path: string; readonly trusted: boolean }[] };
    expect(items.map(({ path, trusted }) => [path, trusted])).toEqual([
      [".keelson/hooks.json", false],
      ["AGENTS.md", false],
      ["web/AGENTS.md", true],
    ]);
  });

  it("is trusted item by item, only in the state that was looked at, and forgotten as a whole", async () => {
    await using workspace = await openProject();
    const list = async (): Promise<readonly { readonly path: string; readonly digest: string; readonly trusted: boolean }[]> =>
      (JSON.parse((await keelson(workspace, "trust", "--json")).stdout) as { readonly items: [] }).items;
    const digest = (await list()).find(({ path }) => path === "AGENTS.md")?.digest ?? "";
    await writeFile(join(workspace.project, "AGENTS.md"), "Another.");
    const refused = await keelson(workspace, "trust", "accept", "AGENTS.md", "--digest", digest);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("is not what is there now") as string });
    expect((await list()).filter(({ trusted }) => trusted)).toEqual([]);
    expect((await keelson(workspace, "trust", "accept", "AGENTS.md")).code).toBe(0);
    expect((await list()).filter(({ trusted }) => trusted).map(({ path }) => path)).toEqual(["AGENTS.md"]);
    expect((await keelson(workspace, "trust", "forget")).stdout).toContain("nothing of");
    expect((await list()).filter(({ trusted }) => trusted)).toEqual([]);
    expect(await keelson(workspace, "trust", "accept", "nowhere/AGENTS.md")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("brings no nowhere/AGENTS.md") as string,
    });
  });

  it("is used for one run with --trust, which is remembered nowhere", async () => {
    await using workspace = await openProject();
    expect((await workspace.keelson("-p", "--trust", "go")).stderr).not.toContain("left out");
    expect(seen(workspace)).toEqual({ heron: true, plover: true, ran: true });
    expect((await workspace.keelson("-p", "go")).stderr).toContain("left out");
    expect(seen(workspace)).toMatchObject({ heron: false, plover: false });
  });

  it("does not run a script that a trusted hook names and that was changed while the run went on", async () => {
    const hooks = { hooks: { PreToolUse: [{ matcher: "read_file", hooks: [{ type: "command", command: "sh ./note.sh", guard: true }] }] } };
    const changing = { toolCalls: [{ name: "write_file", input: { path: "note.sh", content: "echo evil >> ran.txt\n" } }] };
    await using workspace = await openWorkspace(
      [
        { toolCalls: [{ name: "read_file", input: { path: "note.sh" } }] },
        changing,
        { toolCalls: [{ name: "read_file", input: { path: "a" } }] },
        { text: "done" },
      ],
      { ".keelson/hooks.json": JSON.stringify(hooks), "note.sh": "echo ran >> ran.txt\n", "a": "secret content" },
    );
    await keelson(workspace, "trust", "accept");
    await workspace.keelson("-p", "--permission-mode", "accept-edits", "go");
    expect(await readFile(join(workspace.project, "note.sh"), "utf8")).toContain("evil");
    expect(await readFile(join(workspace.project, "ran.txt"), "utf8")).toBe("ran\n");
    // The guard could not be asked, so the call was refused.
    const told = JSON.stringify(workspace.server.requests.at(-1)?.body);
    expect(told).toContain("is not what was trusted any more");
    expect(told).not.toContain("secret content");
  });

  it("says where hooks that are trusted can't be read", async () => {
    await using workspace = await openProject({ ".keelson/hooks.json": '{ "hooks": { "PreToolUse": 1 } }', "web/a.txt": "" });
    await keelson(workspace, "trust", "accept");
    const { code, stderr } = await workspace.keelson("-p", "go");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/hooks\.json can't be read: hooks\.PreToolUse/) as string });
  });

  it("starts no server before it is trusted, shows what it would read, and asks again when it, or a script of it, is changed", async () => {
    const server = { command: process.execPath, args: ["tools/notes.mjs"], env: { TOKEN: "${SOME_TOKEN:-x}", MODE: "all" } };
    const definition = (more: object = {}): string => JSON.stringify({ mcpServers: { notes: { ...server, ...more } } });
    await using workspace = await openProject({ ".mcp.json": definition(), "tools/notes.mjs": NOTE_SERVER });
    const started = (): boolean => existsSync(join(workspace.project, "tools/started.txt"));
    const test = async (): Promise<number | null> => (await workspace.keelson("mcp", "test", "notes")).code;
    const { stdout } = await keelson(workspace, "trust");
    expect(stdout).toContain(".mcp.json#notes · an MCP server · sha256 ");
    for (const line of [
      `  starts ${process.execPath} tools/notes.mjs\n`,
      "  with TOKEN=${SOME_TOKEN:-x}\n",
      "  with MODE=all\n",
      "  reads of your environment: SOME_TOKEN\n",
      "  runs tools/notes.mjs\n",
    ])
      expect(stdout).toContain(line);
    expect([await test(), started()]).toEqual([1, false]);
    // The file stands for all servers in it.
    expect((await keelson(workspace, "trust", "accept", ".mcp.json")).stdout).toContain("trusted");
    expect([await test(), started()]).toEqual([0, true]);

    const changes: readonly (readonly [path: string, content: string])[] = [
      [".mcp.json", definition({ args: ["tools/notes.mjs", "--all"] })],
      [".mcp.json", definition({ env: { TOKEN: "${ANOTHER_TOKEN}" } })],
      ["tools/notes.mjs", `${NOTE_SERVER}// changed\n`],
    ];
    for (const [path, content] of changes) {
      await writeFile(join(workspace.project, ".mcp.json"), definition());
      await writeFile(join(workspace.project, "tools/notes.mjs"), NOTE_SERVER);
      await rm(join(workspace.project, "tools/started.txt"));
      expect(await test()).toBe(0);
      await rm(join(workspace.project, "tools/started.txt"));
      await writeFile(join(workspace.project, path), content);
      expect([await test(), started()], content).toEqual([1, false]);
      await writeFile(join(workspace.project, "tools/started.txt"), "");
    }
    // In this run alone, and for nobody else.
    expect([(await workspace.keelson("--trust", "mcp", "test", "notes")).code, await test()]).toEqual([0, 1]);
  });

  it("vouches for no server: what that says of its tools counts only where a person writes so in their own file", async () => {
    const notes = { command: process.execPath, args: ["notes.mjs"], trustAnnotations: true };
    await using workspace = await openProject({ ".mcp.json": JSON.stringify({ mcpServers: { notes } }), "notes.mjs": NOTE_SERVER });
    await keelson(workspace, "trust", "accept");
    const effectOfList = async (name: string): Promise<string | undefined> => {
      const { stdout } = await workspace.keelson("mcp", "test", name, "--json");
      const { tools } = JSON.parse(stdout) as { readonly tools: readonly { readonly name: string; readonly effect: string }[] };
      return tools.find((tool) => tool.name === `mcp__${name}__list`)?.effect;
    };
    expect(await effectOfList("notes")).toBe("write");
    expect((await keelson(workspace, "mcp", "list")).stdout).toContain('has the field "trustAnnotations", which was passed over');
    await writeFile(join(workspace.home, "mcp.json"), JSON.stringify({ mcpServers: { mine: notes } }));
    expect(await effectOfList("mine")).toBe("read");
  });

  it("is no link that leads out of the repository", async () => {
    await using workspace = await openProject({ "web/a.txt": "" });
    await mkdir(join(workspace.project, ".keelson"));
    await writeFile(join(workspace.home, "..", "outside.json"), HOOKS);
    await symlink("../../outside.json", join(workspace.project, ".keelson/hooks.json"));
    expect(await workspace.keelson("-p", "go")).toMatchObject({ code: 0, stderr: expect.stringContaining("left out") as string });
    const { code, stderr } = await workspace.keelson("-p", "--trust", "go");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("leads out of the project") as string });
  });

  it("is asked about at the start of a conversation, and again when it has changed", async () => {
    await using workspace = await openProject({ "AGENTS.md": "Say the word heron.", "web/a.txt": "content" });
    const keys = Object.assign(new PassThrough(), { isTTY: true as const });
    let written = "";
    let notice = Promise.withResolvers<void>();
    const terminal: OutputStream = Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          written += chunk.toString();
          notice.resolve();
          notice = Promise.withResolvers();
          done();
        },
      }),
      { isTTY: true as const, columns: 120 },
    );
    let from = 0;
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(stripVTControlCharacters(written.slice(from)))) await notice.promise;
      from = written.length;
    };
    const { environment, ...rest } = hostOf(workspace);
    const host: CommandHost = {
      ...rest,
      environment: { ...environment, ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: workspace.server.url },
      stdin: keys,
      stdout: terminal,
      stderr: terminal,
    };
    const code = main([], host);
    await until(
      /AGENTS\.md · instructions to the agent · sha256 [0-9a-f]{12}[\s\S]*Say the word heron\.[\s\S]*trust it, as it is now\? [^\n]*› /,
    );
    keys.write("y\r");
    // The prompt, above the status line.
    await until(/›\s+[^\n]*claude-sonnet-5 · /);
    keys.write("go\r");
    await until(/done[\s\S]*✔ complete[\s\S]*›\s+[^\n]*claude-sonnet-5 · /);
    expect(seen(workspace).heron).toBe(true);

    await writeFile(join(workspace.project, "AGENTS.md"), "Say the word heron and plover.");
    keys.write("go again\r");
    await until(
      /left out, since nobody trusts it as it is: AGENTS\.md\. To use it: \/trust[\s\S]*✔ complete[\s\S]*›\s+[^\n]*claude-sonnet-5 · /,
    );
    expect(seen(workspace)).toMatchObject({ heron: false, plover: false });
    keys.write("/trust\r");
    await until(/Say the word heron and plover\.[\s\S]*Trusted as shown/);
    keys.write("once more\r");
    await until(/✔ complete[\s\S]*›\s+[^\n]*claude-sonnet-5 · /);
    expect(seen(workspace)).toMatchObject({ heron: true, plover: true });
    keys.write("/quit\r");
    expect(await code).toBe(0);
  });
});
