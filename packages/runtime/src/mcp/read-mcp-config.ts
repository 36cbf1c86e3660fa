import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type McpConfigFile, parseMcpConfig } from "./parse-mcp-config.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * The servers of a file such as `.mcp.json`; none where there is no such file. It never rejects: what is wrong is told in `problems`.
 * ```ts
 * const { servers, problems } = await readMcpConfig(".mcp.json");
 * const manager = createMcpManager({ servers });
 * ```
 */
export async function readMcpConfig(path: string): Promise<McpConfigFile> {
  const leftOut = (why: string): McpConfigFile => ({
    servers: {},
    problems: [{ file: path, message: `${path} can't be read: ${why}`, isLeftOut: true }],
  });
  try {
    // What is no file, a pipe for one, must not be waited for.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return leftOut("it is no file.");
    if (stats.size > MAX_BYTES) return leftOut(`it is longer than ${MAX_BYTES} bytes.`);
    return parseMcpConfig(await file.readFile("utf8"), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { servers: {}, problems: [] };
    return leftOut(error instanceof Error ? error.message : String(error));
  }
}
