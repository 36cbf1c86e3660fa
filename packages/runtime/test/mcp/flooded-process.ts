// Calls a tool of a server that floods, and prints how much memory that took beside what there was before, and how the call ended.
import { setImmediate as nextTurn } from "node:timers/promises";
import { McpError } from "@keelson/protocol";
import { createMcpManager } from "keelson/mcp";
import { faultyServer } from "./managers.ts";
import { event, serveScripted } from "./scripted-http-server.ts";

const [, , behaviour = "", detail = ""] = process.argv;
const bytes = Number(detail);
// What nobody asked for may be four times as much.
const maxMessageBytes = bytes / 4;

await using http = await serveScripted(({ params, response }) => {
  if (params?.name !== "good") return;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const told = event({ method: "notifications/message", params: { level: "info", data: "x".repeat(60_000) } });
  response.on("error", () => {});
  const more = (): void => {
    while (!response.destroyed && response.write(told));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
});
const config =
  behaviour === "http" ? { type: "http" as const, url: http.url, maxMessageBytes } : faultyServer(behaviour, bytes, { maxMessageBytes });
let notices = 0;
await using manager = createMcpManager({ servers: { one: config }, onNotice: () => void notices++ });
await manager.startAll();

const used = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
globalThis.gc?.();
const before = used();
let most = 0;
let isOver = false;
const watching = (async () => {
  while (!isOver) {
    most = Math.max(most, used() - before);
    await nextTurn();
  }
})();
const ended = await manager.callTool("one", "good").then(
  () => "answered",
  (error: unknown) => (McpError.is(error) ? error.failure.kind : String(error)),
);
isOver = true;
await watching;
console.log(JSON.stringify({ most, ended, notices }));
