import type { ExecuteRequest, Executor } from "@keelson/protocol";

/** Where a command starts, and with which variables. */
export type CommandPlace = Pick<ExecuteRequest, "cwd" | "env">;

/**
 * The same executor, of which nothing is run, as a command, a job or a pipeline, before `place` has said where and with what. What that throws is why
 * it is not run.
 */
export function beforeRequests(executor: Executor, place: (given: CommandPlace) => Promise<CommandPlace> | CommandPlace): Executor {
  const { jobs } = executor;
  return {
    ...(executor.credentials && { credentials: executor.credentials }),
    ...(executor.confine && { confine: executor.confine.bind(executor) }),
    ...(executor.processes && { processes: executor.processes.bind(executor) }),
    execute: async (request) => executor.execute({ ...request, ...(await place(request)) }),
    ...(executor.pipeline && {
      pipeline: async (stages, request = {}) => {
        const run = executor.pipeline as NonNullable<Executor["pipeline"]>;
        return run.call(executor, stages, { ...request, ...(await place(request)) });
      },
    }),
    ...(jobs && {
      jobs: {
        start: async (request) => jobs.start({ ...request, ...(await place(request)) }),
        poll: (id, options) => jobs.poll(id, options),
        kill: (id) => jobs.kill(id),
        ended: (id) => jobs.ended(id),
        list: () => jobs.list(),
      },
    }),
  };
}
