// Works on a session in the folder given, whose one call goes on in the background without end; says so, and waits to be killed.
import { join } from "node:path";
import { createAgent, createRunner } from "keelson";
import { createMcpManager } from "keelson/mcp";
import { createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";

const [, , folder = ""] = process.argv;
const manager = createMcpManager({
  servers: {
    shop: {
      type: "stdio",
      command: process.execPath,
      args: ["--conditions=source", join(import.meta.dirname, "paying-server.ts")],
      env: { EFFECTS: join(folder, "effects.jsonl"), NEVER_ANSWERS: "1" },
      backgroundAfterMs: 1,
    },
  },
});
const model = scriptedModel([
  { toolCalls: [{ name: "mcp__shop__pay", input: { amount: 5 } }] },
  {
    text: "",
    async wait() {
      process.stdout.write("in the background");
      await new Promise(() => setInterval(() => {}, 1000));
    },
  },
]);
const permissions = { mode: "bypass-all" } as const;
const agent = createAgent({ name: "buyer", model, permissions, toolSources: [manager.toolSource({ startupWaitMs: 30_000 })] });
await createRunner({ agent, log: createSqliteEventLog(join(folder, "log.sqlite")) }).run("go", { session: "s" }).outcome;
