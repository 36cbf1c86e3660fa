import { DirectiveError, type JsonObject, type RunControl } from "@keelson/protocol";
import { problemOfEmitted } from "../../../session/shown-event.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { backgroundWorkOf, type BackgroundWork } from "./background-work.ts";

/** What one effect may ask of the run that declared it. Keys follow from its id, so that a second attempt asks for the same. */
export function runControlFor(loop: Loop, id: string): RunControl {
  const { execution } = loop;
  const key = `effect/${id}`;
  let emitted = 0;
  return {
    emit(event) {
      const directive = { type: "emit", event: JSON.parse(JSON.stringify(event)) as JsonObject } as const;
      const problem = runOf(loop).status === "ended" ? "the run is over" : problemOfEmitted(directive.event);
      if (problem !== undefined)
        throw new DirectiveError({ kind: "rejected", directive: "emit", by: "keelson", message: `Nothing was emitted: ${problem}.` });
      const place = `${key}/emit/${++emitted}`;
      execution.put(place, "directive", { directive, id: `${id}/${emitted}`, causationId: id });
    },
    async stop(reason) {
      // Over already, all but the end of it: the next run of this session is not meant.
      if (runOf(loop).ending) return;
      await execution.journal.writeInbox(`${execution.runId}/${key}/stop`, { type: "stop", ...(reason !== undefined && { reason }) });
    },
    spawnAgent: async (name, config) => background(loop, "spawn-agent").spawnAgent(key, name, config),
    stopChild: async (name) => background(loop, "stop-child").stopChild(key, name),
    startTask: async (description, input) => background(loop, "spawn-task").startTask(key, description, input),
    stopTask: async (taskId) => background(loop, "stop-task").stopTask(key, taskId),
  };
}

function background(loop: Loop, directive: string): BackgroundWork {
  const found = backgroundWorkOf(loop);
  if (found !== undefined) return found;
  const message = `"${directive}" is not supported here: this loop has no background work. Run the agent by a runner.`;
  throw new DirectiveError({ kind: "unsupported", directive, message });
}
