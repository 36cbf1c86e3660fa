import type { CallEffects, JsonObject, LogRecord, SessionId } from "@keelson/protocol";
import { sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { Agent } from "../../src/agent/definition/agent.ts";
import { createAgent, defineTool } from "../../src/index.ts";
import { createLives } from "./lives.ts";
import type { Points } from "./points.ts";
import { scriptByTurn } from "./scenario.ts";

const SESSION = "reads";

/** An agent with a tool that writes, and of whose calls some are known to do less. */
function agentWith(effectsOf: () => CallEffects, mode: "default" | "bypass-all"): (life: { readonly points: Points }) => Agent<undefined> {
  return ({ points }) =>
    createAgent({
      name: "shell",
      model: scriptByTurn(points, "scripted/shell", (turn) =>
        turn === 0 ? { toolCalls: [{ name: "run", input: {} }] } : { text: "Done." },
      ),
      permissions: { mode, rules: [{ pattern: "run", behavior: "allow" }] },
      tools: [
        defineTool({
          name: "run",
          description: "Runs.",
          effect: "write",
          input: { type: "object" },
          effectsOf,
          async execute(_input: JsonObject) {
            await points.pass("run/before");
            return "ran";
          },
        }) as never,
      ],
    });
}

async function afterCrash(before: () => CallEffects, later: () => CallEffects = before, mode: "default" | "bypass-all" = "default") {
  const lives = createLives();
  const first = lives.begin(agentWith(before, mode), { place: "run/before#0" });
  void first.runner.run("Go.", { session: SESSION }).outcome;
  await first.died;
  const { reason } = await (await lives.begin(agentWith(later, mode)).runner.resume(SESSION)).outcome;
  const records: LogRecord[] = [];
  for await (const record of lives.log.read(sessionLog(SESSION as SessionId))) records.push(record);
  return { reason, reservations: records.flatMap(({ type, data }) => (type === "tool-reserved" ? [data["effect"]] : [])) };
}

const reads = (): CallEffects => ({ effect: "read" });
const writes = (): CallEffects => ({ writes: ["x"] });

describe("a call of a tool that writes, of which its tool says that it changes nothing", () => {
  it.each(["default", "bypass-all"] as const)("is made again after a crash without a question, in the mode %s", async (mode) => {
    expect(await afterCrash(reads, reads, mode)).toEqual({ reason: "complete", reservations: [] });
  });

  it("goes by what its tool said when it ran, not by what a later version says", async () => {
    expect(await afterCrash(writes, reads)).toEqual({ reason: "awaiting-decision", reservations: ["write"] });
    expect(await afterCrash(reads, writes)).toEqual({ reason: "complete", reservations: ["write"] });
  });

  it("is asked about where nothing, or more than its tool's effect, is said of it", async () => {
    expect(await afterCrash(() => ({}))).toMatchObject({ reason: "awaiting-decision" });
    expect(await afterCrash(() => ({ effect: "everything" }) as never)).toMatchObject({ reason: "awaiting-decision" });
  });

  it("keeps the key of an idempotent call", async () => {
    expect(await afterCrash(() => ({ effect: "idempotent" }))).toEqual({ reason: "complete", reservations: ["idempotent", "idempotent"] });
  });
});
