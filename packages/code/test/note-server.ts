/**
 * A server over standard input and output, as a script without imports that stands in a project: it writes `started.txt` beside itself when it is
 * started, and has the tools `take` (keeps a note in the file that it is given), `look` (reads a file) and `list` (says that it reads only).
 */
export const NOTE_SERVER = `
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const attempt = (work) => {
  try {
    return String(work());
  } catch (error) {
    return error.code;
  }
};
attempt(() => appendFileSync(join(dirname(fileURLToPath(import.meta.url)), "started.txt"), "started\\n"));
const path = { type: "object", properties: { path: { type: "string" } } };
const tools = [
  { name: "take", description: "Takes a note.", inputSchema: path },
  { name: "look", description: "Reads a file.", inputSchema: path },
  { name: "list", description: "Lists notes.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
];
const calls = {
  take: ({ path }) => appendFileSync(path, "noted\\n") ?? "taken",
  look: ({ path }) => readFileSync(path, "utf8"),
  list: () => process.env.NOTES ?? "no notes",
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const results = {
    "initialize": () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } }),
    "ping": () => ({}),
    "tools/list": () => ({ tools }),
    "tools/call": () => ({ content: [{ type: "text", text: attempt(() => calls[params.name](params.arguments ?? {})) }] }),
  };
  const answer = results[method] ? { result: results[method]() } : { error: { code: -32601, message: "no such method" } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
`;

/** One that reads what it is told and never answers. */
export const SILENT_SERVER = `process.stdin.resume();\n`;
