import { createAgent } from "keelson";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { LogError, sessionLog, type EventLog, type SessionId } from "@keelson/protocol";
import { expect, it } from "vitest";
import { watchedLog } from "../crash/watched-log.ts";
import { recordingTool, runnerOf } from "./support.ts";

const ID = sessionLog("s" as SessionId);
const look = (n: number): ScriptedTurn => ({ toolCalls: [{ name: "look", input: { n } }] });

/** A log that takes so many appends to the session, and no more. */
function fullAfter(log: EventLog, appends: number): EventLog {
  let left = appends;
  return watchedLog(log, {
    before(id) {
      if (id === ID && left-- <= 0) throw new LogError({ kind: "full", message: "there is no space left" });
    },
  });
}

it("the turns of an outcome are those that the log holds, wherever it fails [ET-03]", async () => {
  const counts: number[] = [];
  for (let appends = 0, failed = true; failed; appends++) {
    const log = createMemoryEventLog();
    const tools = [recordingTool("look", { effect: "read" })];
    const agent = createAgent({ name: "a", model: scriptedModel([look(1), look(2), "done"]), tools });
    const { turns, reason } = await runnerOf(agent, { log: fullAfter(log, appends) }).run("go", { session: "s" }).outcome;
    failed = reason === "error";
    let ends = 0;
    for await (const { type } of log.read(ID)) if (type === "turn-end") ends++;
    expect([appends, turns]).toEqual([appends, ends]);
    counts.push(turns);
  }
  expect([counts[0], counts.at(-1)]).toEqual([0, 3]);
});
