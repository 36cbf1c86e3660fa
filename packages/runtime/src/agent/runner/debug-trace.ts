import type { Agent } from "../definition/agent.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import type { Execution } from "../../session/execution.ts";

/** What a loop says about its work, while somebody debugs it. */
export interface DebugTrace {
  say(message: string): void;
  close(): Promise<void>;
}

/** Tells a run's watchers and the agent's debug file what the loop does; nothing where the agent asks for neither. */
export function openDebugTrace(agent: Agent<unknown>, services: RunnerServices, execution: Execution): DebugTrace | undefined {
  const { debug = false, debugFile } = agent.options;
  if (!debug && debugFile === undefined) return undefined;
  const file = debugFile === undefined ? undefined : services.openDebugFile?.(debugFile);
  return {
    say(message) {
      if (debug) execution.emit({ type: "status", status: message, level: "info" });
      file?.write(`${new Date(services.clock.now()).toISOString()} ${execution.session} ${message}\n`);
    },
    async close() {
      try {
        await file?.close();
      } catch (error) {
        // A debugger that fails does not end the run, and the run's last event was its terminal one.
        process.emitWarning(
          `The debug file ${debugFile} is incomplete: ${error instanceof Error ? error.message : String(error)}`,
          "KeelsonWarning",
        );
      }
    },
  };
}
