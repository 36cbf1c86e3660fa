// Works on a session in the folder given, whose tools are a server's, until it is over; may be killed at a place. Says where it passed and how it ended.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createAgent } from "keelson";
import { createMcpManager } from "keelson/mcp";
import { finish } from "../crash/finish.ts";
import { createPoints } from "../crash/points.ts";
import { openFolder } from "../crash/scenario-folder.ts";
import { openRunner, scriptByTurn } from "../crash/scenario.ts";

const [, , folder = "", killAt = ""] = process.argv;
const points = createPoints((point) => {
  if (point !== killAt) return undefined;
  process.kill(process.pid, "SIGKILL");
  return new Promise<never>(() => {});
});
const server = {
  type: "stdio",
  command: process.execPath,
  args: ["--conditions=source", join(import.meta.dirname, "paying-server.ts")],
  env: { EFFECTS: join(folder, "effects.jsonl"), KILL_AT: killAt },
  trustAnnotations: true,
} as const;
await using manager = createMcpManager({ servers: { shop: server } });

await using opened = openFolder(folder, {
  points,
  open: (services) =>
    openRunner(services, () =>
      createAgent({
        name: "buyer",
        model: scriptByTurn(points, "scripted/buyer", (turn) =>
          turn === 0
            ? { toolCalls: [{ name: "mcp__shop__price", input: {} }] }
            : turn === 1
              ? { toolCalls: [{ name: "mcp__shop__pay", input: { amount: 5 } }] }
              : { text: "Paid." },
        ),
        // The clock here lets no shorter time pass.
        toolSources: [manager.toolSource({ startupWaitMs: 120_000 })],
      }),
    ),
});
const { outcome, unknown } = await finish(opened.runner, opened.log, opened.effects);
writeSync(1, JSON.stringify({ reason: outcome.reason, text: outcome.text, unknown, passed: points.passed }));
