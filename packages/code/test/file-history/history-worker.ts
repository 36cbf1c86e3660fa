import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createFileHistory } from "../../src/history/index.ts";
import { act, type AgentAction } from "./actions.ts";

/**
 * What a worker process does: actions of the agent, or an undo of all of them. It says when it begins, so that it can be killed in the middle.
 * `diesAt`: the end of a path. The process kills itself before it renames a file to it, or removes it.
 */
export type WorkerTask = { readonly home: string; readonly cwd: string; readonly diesAt?: string } & (
  | { readonly type: "act"; readonly actions: readonly AgentAction[] }
  | { readonly type: "undo" }
);

const task = JSON.parse(process.argv[2] ?? "") as WorkerTask;
const { diesAt } = task;
if (diesAt !== undefined) {
  const { renameSync, unlinkSync } = fs;
  const dieAt = (path: fs.PathLike): void => {
    if (String(path).endsWith(diesAt)) process.kill(process.pid, "SIGKILL");
  };
  fs.renameSync = (from, to) => {
    dieAt(to);
    renameSync(from, to);
  };
  fs.unlinkSync = (path) => {
    dieAt(path);
    unlinkSync(path);
  };
  syncBuiltinESMExports();
}
const history = createFileHistory({ home: task.home, cwd: task.cwd, durability: "process" });
process.stdout.write("begun\n");
if (task.type === "act") for (const action of task.actions) await act(history, task.cwd, action);
else await history.project().undo("s", { since: 0 });
process.stdout.write("done\n");
