// A server that notes what it is paid in a file. It may kill the process that called it, before it notes or after, or never answer.
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const { EFFECTS = "", KILL_AT, NEVER_ANSWERS } = process.env;
const killAt = async (place: string): Promise<void> => {
  if (KILL_AT !== place) return;
  process.kill(process.ppid, "SIGKILL");
  await new Promise(() => {});
};

serveStdio(() => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  server.registerTool("price", { description: "What it costs.", annotations: { readOnlyHint: true } }, async () => {
    await killAt("price");
    return { content: [{ type: "text", text: "5" }] };
  });
  server.registerTool("pay", { description: "Pays.", inputSchema: z.object({ amount: z.number() }) }, async ({ amount }, context) => {
    await killAt("before");
    const key = String(context.mcpReq._meta?.["keelson/idempotency-key"]);
    appendFileSync(EFFECTS, `${JSON.stringify({ tool: "mcp__shop__pay", key, input: { amount } })}\n`);
    await killAt("after");
    if (NEVER_ANSWERS !== undefined) await new Promise(() => {});
    return { content: [{ type: "text", text: `paid ${amount}` }] };
  });
  return server;
});
