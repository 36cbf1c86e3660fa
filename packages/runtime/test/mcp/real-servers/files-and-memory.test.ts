import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpManager } from "keelson/mcp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWithoutPeers, needsPeers } from "../peers.ts";
import { filesystemServer, memoryServer } from "./real-servers.ts";

let folder = "";
beforeEach(async () => void (folder = await realpath(await mkdtemp(join(tmpdir(), "keelson-real-server-")))));
afterEach(() => rm(folder, { recursive: true }));

describe.skipIf(isWithoutPeers)(`the reference server of files${needsPeers}`, () => {
  it("writes and reads what is in the folders that it is told of, and nothing else", async () => {
    const [inside, outside] = [join(folder, "inside"), join(folder, "outside")];
    await mkdir(inside);
    await mkdir(outside);
    await writeFile(join(outside, "secret.txt"), "not for everybody");
    // What its arguments name gives way to the roots.
    await using manager = createMcpManager({ servers: { files: filesystemServer(outside) }, cwd: inside });
    const read = async (path: string) => manager.callTool("files", "read_text_file", { path });
    const mayUse = async (): Promise<string> => JSON.stringify((await manager.callTool("files", "list_allowed_directories")).content);
    await manager.startAll();
    await expect.poll(mayUse).toContain(inside);
    const path = join(inside, "note.txt");
    expect(await manager.callTool("files", "write_file", { path, content: "Buy milk" })).toMatchObject({ isError: false });
    expect(await readFile(path, "utf8")).toBe("Buy milk");
    expect(await read(path)).toEqual({
      content: [{ type: "text", text: "Buy milk" }],
      structuredContent: { content: "Buy milk" },
      isError: false,
    });
    expect(await read(join(outside, "secret.txt"))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/outside allowed directories/) }],
    });
  });
});

describe.skipIf(isWithoutPeers)(`the reference server of a memory${needsPeers}`, () => {
  it("finds what it was told, also when it is started again", async () => {
    const servers = { memory: memoryServer(join(folder, "memory.jsonl")) };
    const ada = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
    {
      await using manager = createMcpManager({ servers });
      const created = await manager.callTool("memory", "create_entities", { entities: [ada] });
      expect(created).toMatchObject({ structuredContent: { entities: [ada] } });
    }
    await using manager = createMcpManager({ servers });
    expect(await manager.callTool("memory", "search_nodes", { query: "first program" })).toMatchObject({
      structuredContent: { entities: [ada], relations: [] },
    });
    expect(await manager.callTool("memory", "search_nodes", { query: "compiler" })).toMatchObject({
      structuredContent: { entities: [], relations: [] },
    });
  });
});
