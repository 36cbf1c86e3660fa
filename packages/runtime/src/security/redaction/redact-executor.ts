import type { ExecuteRequest, ExecuteResponse, Executor, PipelineRequest, PipelineResponse, PipelineStage } from "@keelson/protocol";
import { createJobs } from "../../environment/execution/jobs.ts";
import { withHiddenOutput } from "../../environment/secrets/hidden-output.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EXECUTOR_METHODS } from "../../json/interface-methods.ts";
import { withoutSecretsThrown } from "./redact-error.ts";
import type { Redactor } from "./redactor.ts";

/** The same executor, with secrets taken out of the output of its programs, in pieces and as a whole, and out of errors. */
export function redactExecutor(executor: Executor, redactor: Redactor): Executor {
  const newHider = (): ReturnType<Redactor["stream"]> => redactor.stream();
  const execute = async (request: ExecuteRequest): Promise<ExecuteResponse> =>
    withoutSecretsThrown(redactor, () => withHiddenOutput(request, newHider, (changed) => executor.execute({ ...request, ...changed })));
  const redacted: Executor = {
    ...executor,
    ...(executor.confine !== undefined && { confine: executor.confine.bind(executor) }),
    execute,
    ...(executor.processes && { processes: async () => redactor.redactJson((await executor.processes?.()) ?? []) }),
    ...(executor.jobs && { jobs: createJobs(execute) }),
    ...(executor.pipeline && {
      async pipeline(stages: readonly PipelineStage[], request: PipelineRequest = {}): Promise<PipelineResponse> {
        const run = (changed: PipelineRequest): Promise<PipelineResponse> =>
          executor.pipeline?.(stages, changed) as Promise<PipelineResponse>;
        return withoutSecretsThrown(redactor, () =>
          withHiddenOutput<PipelineResponse>(request, newHider, ({ blobs: _blobs, ...changed }) => run({ ...request, ...changed })),
        );
      },
    }),
  };
  return checkMethodOptions("exec", redacted, EXECUTOR_METHODS);
}
