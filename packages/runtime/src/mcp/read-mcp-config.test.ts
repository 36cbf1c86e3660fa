import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMcpConfig } from "keelson/mcp";
import { afterAll, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "keelson-mcp-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("reads a file, and finds no servers where there is none", async () => {
  const path = join(folder, "mcp.json");
  expect(await readMcpConfig(path)).toEqual({ servers: {}, problems: [] });
  writeFileSync(path, '{ "mcpServers": { "one": { "command": "run" } } }');
  expect(await readMcpConfig(path)).toEqual({ servers: { one: { type: "stdio", command: "run" } }, problems: [] });
});

it("says of what can't be read why, and waits for nobody to write into a pipe", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const large = join(folder, "large.json");
  writeFileSync(large, " ".repeat(1024 * 1024 + 1));
  const told = async (path: string) => (await readMcpConfig(path)).problems;
  expect(await told(pipe)).toEqual([{ file: pipe, message: `${pipe} can't be read: it is no file.`, isLeftOut: true }]);
  expect((await told(folder))[0]?.message).toContain("can't be read");
  expect((await told(large))[0]?.message).toContain("longer than 1048576 bytes");
});
