// A server over standard input and output, without the SDK, that does what its first argument says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const [, , behaviour = "", detail = ""] = process.argv;
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name: string, more: object = {}): object => ({ name, description: name, inputSchema: { type: "object" }, ...more });
const text = (said: string): object => ({ content: [{ type: "text", text: said }] });

if (behaviour === "writes-and-ends") {
  process.stderr.write("No such database.\n");
  process.exit(1);
}
const flood = async (message: object): Promise<never> => {
  for (;;) {
    send(message);
    if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
  }
};
let listed = 0;
let unanswered: number | undefined;
/** The call in which a person is asked. */
let asking: number | undefined;
const PAGES = ["file:///etc/passwd", "javascript:alert(1)", "https://example.com/a b\u001b[31m", "https://bank.example@evil.example/"];
// Ending its input does not end it.
const child = behaviour === "ignores-the-end" ? spawn("sleep", ["1000"], { stdio: "ignore", detached: true }) : undefined;

for await (const line of createInterface({ input: process.stdin })) {
  if (behaviour === "hangs") continue;
  // It reads nothing more.
  if (behaviour === "stops-reading" && line.includes("notifications/initialized")) await new Promise(() => setInterval(() => {}, 1000));
  const { id, method, params } = JSON.parse(line) as {
    readonly id?: number;
    readonly method: string;
    readonly params?: { readonly name?: string; readonly _meta?: { readonly progressToken?: unknown } };
  };
  if (id === ("page" as unknown)) send({ id: asking, result: text(line) });
  if (method === "server/discover") {
    if (behaviour === "ends-when-probed") process.exit(1);
    send({ id, error: { code: -32601, message: "no such method" } });
  }
  if (method === "initialize") {
    const result = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "faulty", version: "1" },
    };
    send({ id, result: behaviour === "nonsense-at-first" ? { protocolVersion: 7 } : result });
  }
  if (method === "notifications/initialized" && behaviour === "closes-its-input") {
    process.stdin.destroy();
    setInterval(() => {}, 1000);
    break;
  }
  if (method === "ping") send({ id, result: {} });
  if (method === "tools/list") {
    listed++;
    if (behaviour === "never-lists") continue;
    if (behaviour === "changes-without-end") for (let times = 0; times < 500; times++) send({ method: "notifications/tools/list_changed" });
    send({
      id,
      result: {
        ...(behaviour === "pages-without-end" && { nextCursor: `page ${listed}` }),
        tools: [
          tool("good"),
          tool("die"),
          ...(behaviour === "changes-without-end" ? [tool(`listed-${listed}`)] : []),
          ...(behaviour === "pages-without-end" ? [tool(`page-${listed}`)] : []),
          ...(behaviour === "bad-tools"
            ? [
                { name: "schemaless" },
                tool("listed", { inputSchema: { type: "array" } }),
                tool("broken", { inputSchema: { type: "object", properties: { a: { $ref: "#/nowhere" } } } }),
                tool("good", { description: "again" }),
                tool("typed", { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } }),
              ]
            : []),
        ],
      },
    });
  }
  if (method !== "tools/call") continue;
  switch (params?.name === "die" ? "die" : behaviour) {
    case "die":
      process.exit(9);
      break;
    case "never-answers":
      break;
    case "floods":
      await flood({ method: "notifications/message", params: { level: "info", data: "x".repeat(60_000) } });
      break;
    case "floods-with-answers":
      await flood({ id: 77_777, result: text("x".repeat(60_000)) });
      break;
    case "floods-with-questions":
      await flood({ id: `q${Math.random()}`, method: "roots/list", params: { _meta: { x: "x".repeat(60_000) } } });
      break;
    case "floods-with-progress":
      await flood({
        method: "notifications/progress",
        params: { progressToken: params?._meta?.progressToken, progress: 1, message: "x".repeat(60_000) },
      });
      break;
    case "floods-with-notices":
      for (let sent = 0; sent < Number(detail); sent++) {
        send({ method: "notifications/message", params: { level: "info", data: sent } });
        if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
      }
      send({ id, result: text("after all that") });
      break;
    case "progresses": {
      const progressToken = params?._meta?.progressToken;
      let progress = 0;
      setInterval(() => send({ method: "notifications/progress", params: { progressToken, progress: ++progress } }), 5).unref();
      break;
    }
    case "opens-pages":
      asking = id;
      send({
        id: "page",
        method: "elicitation/create",
        params: { mode: "url", message: "Open it.", elicitationId: "1", url: PAGES[Number(detail)] },
      });
      break;
    case "writes-much-beside":
      for (let written = 0; written < Number(detail); written += 60_000)
        if (!process.stderr.write("x".repeat(60_000))) await once(process.stderr, "drain");
      send({ id, result: text("after all that") });
      break;
    case "half-a-message":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content"`);
      break;
    case "drips":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":"`);
      setInterval(() => process.stdout.write("x"), 1).unref();
      break;
    case "answers-late":
      // What was asked before is answered with what is asked now, though it was cancelled.
      if (unanswered !== undefined) send({ id: unanswered, result: text("late") });
      if (unanswered !== undefined) send({ id, result: text("in time") });
      unanswered = id;
      break;
    case "answers-and-ends":
      process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: text("the last words") })}\n`, () => process.exit(0));
      break;
    case "writes-and-dies":
      process.stderr.write("The disk is full.\n", () => process.exit(9));
      break;
    case "strange-content":
      send({
        id,
        result: {
          content: [
            { type: "hologram", data: "AAAA" },
            { type: "text", text: "said" },
            { type: "image", data: "not base64!", mimeType: "image/png" },
            { type: "image", data: "AAAA", mimeType: "text/html" },
          ],
        },
      });
      break;
    case "oversized":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${"x".repeat(Number(detail))}"}]}}\n`);
      break;
    case "garbage":
      for (let written = 0; written < Number(detail); written++) process.stdout.write("Listening on port 3000 {\n");
      send({ id, result: text("after garbage") });
      break;
    case "duplicates":
      send({ id: 77_777, result: text("nobody asked") });
      send({ id, result: text("first") });
      send({ id, result: text("second") });
      break;
    case "wrong-result":
      send({ id, result: { content: "not a list" } });
      break;
    case "bad-tools":
      send({ id, result: { ...text("7"), structuredContent: { n: "seven" } } });
      break;
    default:
      send({ id, result: text(`${params?.name} of ${process.pid} ${child?.pid ?? ""}`) });
  }
}
