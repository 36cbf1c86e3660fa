import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { openWorkspace, type Workspace } from "./keelson-process.ts";
import { NOTE_SERVER, SILENT_SERVER } from "./note-server.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const SDK_SERVER = fileURLToPath(new URL("../../runtime/test/mcp/serve-stdio.ts", import.meta.url));
const FILES = { "notes.mjs": NOTE_SERVER, "silent.mjs": SILENT_SERVER };
const openProject = (servers?: object): Promise<Workspace> =>
  openWorkspace([], { ...FILES, ...(servers && { ".mcp.json": JSON.stringify({ mcpServers: servers }) }) });

const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, "utf8"));

describe("keelson mcp", () => {
  it("adds a server of one's own, lists it, tries it, and removes it", async () => {
    await using workspace = await openProject();
    const file = join(workspace.home, "mcp.json");
    const added = await workspace.keelson("mcp", "add", "notes", "--env", "NOTES=${NOTES:-two notes}", "--", process.execPath, "notes.mjs");
    expect(added).toMatchObject({ code: 0, stdout: `added notes to ${file}\nTry it with: keelson mcp test notes\n` });
    expect(await read(file)).toEqual({
      mcpServers: { notes: { command: process.execPath, args: ["notes.mjs"], env: { NOTES: "${NOTES:-two notes}" } } },
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const listed = await workspace.keelson("mcp", "list");
    expect(listed).toMatchObject({ code: 0, stdout: `✔ notes  stdio · ${process.execPath} notes.mjs · your mcp.json\n` });
    expect(existsSync(join(workspace.project, "started.txt"))).toBe(false);

    const tested = await workspace.keelson("mcp", "test", "notes");
    expect(tested).toMatchObject({ code: 0, stderr: "" });
    expect(tested.stdout).toMatch(/^✔ connected to notes in [\d.]+ m?s \(revision 2025-11-25\); 3 tools in [\d.]+ m?s\n/);
    expect(tested.stdout).toContain("  mcp__notes__take  write · medium  Takes a note.\n");
    expect(tested.stdout).toContain("  mcp__notes__list  write · medium  Lists notes.\n");

    expect(await workspace.keelson("mcp", "remove", "notes")).toMatchObject({ code: 0, stdout: `removed notes from ${file}\n` });
    expect(await read(file)).toEqual({ mcpServers: {} });
    const none = await workspace.keelson("mcp", "test", "notes");
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no server "notes"') as string });
  });

  it("keeps what else stands in a file, and its form; one's own is for nobody else to read", async () => {
    await using workspace = await openProject();
    const file = join(workspace.home, "mcp.json");
    await mkdir(workspace.home, { mode: 0o700 });
    await writeFile(join(workspace.home, "version"), "1\n");
    const elsewhere = join(workspace.home, "kept-elsewhere.json");
    await writeFile(
      elsewhere,
      '{"comment": "mine", "mcpServers": {"old": {"command": "x", "icon": "y", "id": 1917043659912705296}}, "last": [1.0]}',
      { mode: 0o644 },
    );
    await symlink(elsewhere, file);
    expect((await workspace.keelson("mcp", "add", "web", "https://example.com/mcp", "--header", "x-team: ours")).code).toBe(0);
    expect(await readFile(elsewhere, "utf8")).toBe(
      `${JSON.stringify(
        {
          comment: "mine",
          mcpServers: {
            old: { command: "x", icon: "y", id: "<id>" },
            web: { type: "http", url: "https://example.com/mcp", headers: { "x-team": "ours" } },
          },
          last: ["<last>"],
        },
        null,
        2,
      )
        .replace('"<id>"', "1917043659912705296")
        .replace('"<last>"', "1.0")}\n`,
    );
    expect((await stat(elsewhere)).mode & 0o777).toBe(0o600);
    // Passed over, which is told.
    const { stdout } = await workspace.keelson("mcp", "list");
    expect(stdout).toContain("✔ web  http · https://example.com/mcp · your mcp.json");
    expect(stdout).toContain("! " + file + ': the server "old" has the field "icon", which is not known and was passed over.');
    for (const text of ["{ not json", "5", '{"mcpServers": 5}']) {
      await writeFile(elsewhere, text);
      const refused = await workspace.keelson("mcp", "add", "more", "--", "x");
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing was changed") as string });
      expect(await readFile(elsewhere, "utf8")).toBe(text);
    }
  });

  it("writes servers of the project to .mcp.json, which keeps its mode, and starts none before somebody trusts it", async () => {
    await using workspace = await openProject({ other: { command: "x" } });
    const file = join(workspace.project, ".mcp.json");
    await chmod(file, 0o640);
    const add = (): ReturnType<Workspace["keelson"]> =>
      workspace.keelson("mcp", "add", "notes", "--scope", "project", "--required", "--", process.execPath, "notes.mjs");
    expect(await add()).toMatchObject({ code: 0, stdout: expect.stringContaining("keelson trust accept .mcp.json#notes") as string });
    expect(await add()).toMatchObject({ code: 2, stderr: expect.stringContaining('there is a server "notes" in') as string });
    expect(await read(file)).toEqual({
      mcpServers: { other: { command: "x" }, notes: { command: process.execPath, args: ["notes.mjs"], required: true } },
    });
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    const tested = await workspace.keelson("mcp", "test", "notes");
    expect(tested).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("nobody trusts .mcp.json#notes as it is") as string,
    });
    expect(existsSync(join(workspace.project, "started.txt"))).toBe(false);
    expect((await workspace.keelson("trust", "accept", ".mcp.json#notes")).code).toBe(0);
    const { stdout } = await workspace.keelson("mcp", "list", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [
        { name: "other", scope: "project", state: "untrusted", trusted: false, transport: "stdio" },
        { name: "notes", scope: "project", state: "usable", trusted: true, path: ".mcp.json#notes" },
      ],
      problems: [],
    });
    expect((await workspace.keelson("mcp", "test", "notes")).code).toBe(0);
    expect(existsSync(join(workspace.project, "started.txt"))).toBe(true);
  });

  it("prefers one's own server to that of a project with its name, and asks which is meant to be removed", async () => {
    await using workspace = await openProject({ notes: { command: process.execPath, args: ["notes.mjs"] } });
    await workspace.keelson("mcp", "add", "notes", "--", process.execPath, SDK_SERVER);
    const { stdout } = await workspace.keelson("mcp", "list");
    expect(stdout).toMatch(/✔ notes {2}stdio .*serve-stdio\.ts · your mcp\.json\n– notes .* not used: another file has one of that name/);
    const tested = await workspace.keelson("mcp", "test", "notes", "--json");
    expect(JSON.parse(tested.stdout)).toMatchObject({
      server: "notes",
      connectMs: expect.any(Number) as number,
      tools: expect.arrayContaining([
        expect.objectContaining({ name: "mcp__notes__weather", effect: "write", risk: "high" }),
        expect.objectContaining({ name: "mcp__notes__add", effect: "write", risk: "medium" }),
      ]) as object,
    });
    expect(existsSync(join(workspace.project, "started.txt"))).toBe(false);
    expect(await workspace.keelson("mcp", "remove", "notes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--scope") as string,
    });
    expect((await workspace.keelson("mcp", "remove", "notes", "--scope", "project")).code).toBe(0);
    expect(await read(join(workspace.project, ".mcp.json"))).toEqual({ mcpServers: {} });
  });

  it("says what is wrong with a server, and ends with 1", async () => {
    await using workspace = await openProject();
    await mkdir(workspace.home, { mode: 0o700 });
    await writeFile(join(workspace.home, "version"), "1\n");
    const refusing = createServer((_request, response) => void response.writeHead(401).end());
    await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp`;
    const servers = {
      gone: { command: join(workspace.project, "no-such-program") },
      dies: { command: process.execPath, args: ["-e", "console.error('No such database.'); process.exit(3)"] },
      silent: { command: process.execPath, args: ["silent.mjs"], connectTimeoutMs: 300 },
      unset: { command: process.execPath, args: ["${NO_SUCH_VARIABLE}"] },
      closed: { url },
      wrong: { command: 7 },
    };
    await writeFile(join(workspace.home, "mcp.json"), JSON.stringify({ mcpServers: servers }));
    const failures = await Promise.all(Object.keys(servers).map((name) => workspace.keelson("mcp", "test", name)));
    await new Promise((resolve) => refusing.close(resolve));
    expect(failures.map(({ code, stdout }) => [code, stdout])).toEqual(failures.map(() => [1, ""]));
    const [gone, dies, silent, unset, closed, wrong] = failures.map(({ stderr }) => stderr);
    expect(gone).toMatch(/no-such-program/);
    expect(dies).toMatch(/No such database\./);
    expect(silent).toMatch(/within 300 ms \(`connectTimeoutMs`\)/);
    expect(unset).toMatch(/NO_SUCH_VARIABLE, which is not set/);
    expect(closed).toMatch(/nobody has logged in to it\. Log in with `keelson mcp login closed`/);
    expect(wrong).toMatch(/the server "wrong" has a "command" that is not a text/);
    const asJson = await workspace.keelson("mcp", "test", "dies", "--json");
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      1,
      { server: "dies", error: expect.stringContaining("No such database.") as string },
    ]);
  });

  it("refuses what does not fit together, and secrets in plain text, and changes nothing", async () => {
    await using workspace = await openProject();
    const cases: readonly (readonly [words: readonly string[], says: RegExp])[] = [
      [["add", "my server", "--", "x"], /no name for a server/],
      [["add", "web", "https://example.com/mcp", "more"], /takes no arguments: more/],
      [["add", "web", "--transport", "http", "example.com"], /is no URL/],
      [["add", "web", "--env", "A=b", "https://example.com/mcp"], /--env is for servers that are programs/],
      [["add", "files", "--header", "a: b", "--", "x"], /--header is for servers with a URL/],
      [["add", "files", "--client-id", "me", "--", "x"], /--client-id is for servers with a URL/],
      [["login", "nothing"], /there is no server "nothing"/],
      [["add", "files", "--env", "A", "--", "x"], /is no variable/],
      [["add", "files", "--header", "A", "https://example.com/mcp"], /is no header/],
      [
        ["add", "files", "--env", "GITHUB_TOKEN=hunter2hunter2", "--", "x"],
        /the variable GITHUB_TOKEN looks like a secret[\s\S]*\$\{SOME_TOKEN\}/,
      ],
      [
        ["add", "web", "--header", "Authorization: Bearer abcdefgh12345678", "https://example.com/mcp"],
        /the header Authorization looks like a secret/,
      ],
      [["add", "files", "--", "x", `ghp_${"a1B2".repeat(9)}`], /the command looks like a secret/],
      [["add", "web", "https://me:hunter2@example.com/mcp"], /the URL looks like a secret/],
      [["remove", "nothing"], /there is no server "nothing"/],
      [[], /`mcp` needs an action: list, add, remove, test, login, logout or serve/],
    ];
    const finished = await Promise.all(cases.map(([words]) => workspace.keelson("mcp", ...words)));
    for (const [index, { code, stderr }] of finished.entries())
      expect([code, stderr], cases[index]?.[0].join(" ")).toEqual([2, expect.stringMatching(cases[index]?.[1] as RegExp)]);
    expect(existsSync(join(workspace.home, "mcp.json"))).toBe(false);
    const named = await workspace.keelson(
      "mcp",
      "add",
      "web",
      "--header",
      "Authorization: Bearer ${SOME_TOKEN}",
      "https://example.com/mcp",
    );
    expect(named.code).toBe(0);
  });
});
