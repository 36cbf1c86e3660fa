import { createFileHistory } from "../../src/history/index.ts";
import { act, type AgentAction } from "./actions.ts";
import { type DeathAt, dieAtChange } from "./die-at-change.ts";

/**
 * The work of a process: actions of the agent, an undo of all of them, or the recovery after another process. It says when it begins, so that it can be
 * killed in the middle, and at its end how many changes of the file system it made.
 */
export type WorkerTask = { readonly home: string; readonly cwd: string; readonly death?: DeathAt } & (
  | { readonly type: "act"; readonly actions: readonly AgentAction[] }
  | { readonly type: "undo" | "recover" }
);

const task = JSON.parse(process.argv[2] ?? "") as WorkerTask;
const changes = dieAtChange(task.death);
const history = createFileHistory({ home: task.home, cwd: task.cwd, durability: "process" });
process.stdout.write("begun\n");
if (task.type === "act") for (const action of task.actions) await act(history, task.cwd, action);
else if (task.type === "undo") await history.project().undo("s", { since: 0 });
else await history.recover();
process.stdout.write(`changes ${changes()}\n`);
