import {
  EnvironmentError,
  type CredentialRef,
  type ExecuteRequest,
  type ExecuteResponse,
  type Executor,
  type PipelineRequest,
  type PipelineResponse,
  type PipelineStage,
  type SecretResolver,
} from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { createJobs } from "../execution/jobs.ts";
import { injectCredentials } from "../operators/inject-credentials.ts";
import { withHiddenOutput } from "./hidden-output.ts";
import { createValueHider } from "./value-hider.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EXECUTOR_METHODS } from "../../json/interface-methods.ts";

export interface WithSecretsOptions {
  readonly secrets: SecretResolver;
  /** As variables, or as files in the folder that the variable `KEELSON_CREDENTIALS` names. No executor here has a sidecar. */
  readonly credentials: readonly CredentialRef[];
  /** Which commands get them. All stages of a pipeline do if one of them does. Default: all. */
  readonly appliesTo?: ((request: ExecuteRequest) => boolean) | undefined;
}

/**
 * An executor whose commands have credentials in their environment. They are resolved when a command starts, stand in no argument, and
 * files with them are gone when it ends. What a command writes is given back without their values, whole or in the usual encodings.
 */
export function withSecrets(executor: Executor, options: WithSecretsOptions): Executor {
  checkOptionNames("withSecrets", options, { secrets: true, credentials: true, appliesTo: true });
  const { secrets, credentials, appliesTo = () => true } = options;
  const sidecar = credentials.find(({ injection }) => injection.type === "sidecar");
  if (sidecar !== undefined)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `The credential "${sidecar.name}" asks for a sidecar, which commands don't have: inject it as a variable or a file.`,
    });

  /** Runs with the credentials in its environment, and gives back what it wrote without their values. */
  const withValues = async <Response extends ExecuteResponse>(
    request: ExecuteRequest,
    run: (request: Pick<ExecuteRequest, "env" | "onOutput" | "blobs">) => Promise<Response>,
  ): Promise<Response> => {
    const values: string[] = [];
    const noted: SecretResolver = {
      async resolve(reference, resolving) {
        const value = await secrets.resolve(reference, resolving);
        if (value.includes("\0"))
          throw new EnvironmentError({
            kind: "credential-failed",
            credential: reference,
            message: "it holds a NUL, which no variable can",
          });
        values.push(value);
        return value;
      },
    };
    await using injected = await injectCredentials(credentials, noted, request.signal ?? new AbortController().signal);
    // Awaited here: files with credentials are there until the command has ended.
    return await withHiddenOutput(
      request,
      () => createValueHider(values),
      (changed) => run({ ...changed, env: { ...request.env, ...injected.env } }),
    );
  };

  const execute = async (request: ExecuteRequest): Promise<ExecuteResponse> =>
    credentials.length === 0 || !appliesTo(request)
      ? executor.execute(request)
      : withValues(request, (changed) => executor.execute({ ...request, ...changed }));

  const wrapped: Executor = {
    ...(executor.confine !== undefined && { confine: executor.confine.bind(executor) }),
    ...(credentials.length > 0 && { credentials: credentials.map(({ name }) => name) }),
    execute,
    ...(executor.processes && { processes: async () => (await executor.processes?.()) ?? [] }),
    ...(executor.jobs && { jobs: createJobs(execute) }),
    ...(executor.pipeline && {
      async pipeline(stages: readonly PipelineStage[], request: PipelineRequest = {}) {
        const isAsked = stages.some(({ command, args }) => appliesTo({ ...request, program: command, args }));
        const run = (changed: PipelineRequest): Promise<PipelineResponse> =>
          executor.pipeline?.(stages, changed) as Promise<PipelineResponse>;
        if (credentials.length === 0 || !isAsked) return run(request);
        return withValues(request, ({ blobs: _blobs, ...changed }) => run({ ...request, ...changed }));
      },
    }),
  };
  return checkMethodOptions("exec", wrapped, EXECUTOR_METHODS);
}
