import { resolve } from "node:path";
import type { Executor } from "@keelson/protocol";
import { randomId } from "../../json/random-id.ts";

/** Runs servers as process groups of this machine, without isolation, in an environment that holds what the request names and what programs need to run. */
export function runServer(variables: { readonly [name: string]: string | undefined }): Executor["execute"] {
  return async (request) => {
    // What starts processes is loaded when one is started.
    const [{ runProcess }, { neededToRun }, { endStrays }] = await Promise.all([
      import("../../environment/execution/run-process.ts"),
      import("../../environment/execution/child-environment.ts"),
      import("../../environment/execution/stray-processes.ts"),
    ]);
    const mark = `KEELSON_COMMAND_${randomId().replaceAll("-", "")}`;
    const { program = "", args = [], cwd = ".", env = {} } = request;
    return runProcess(
      {
        program,
        args,
        cwd: resolve(cwd),
        env: { ...neededToRun(variables), ...env, [mark]: "1" },
        mark,
        endRest: (graceMs) => endStrays(mark, graceMs),
      },
      request,
      {},
    );
  };
}
