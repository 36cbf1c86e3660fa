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
import { createKeptOutput, type KeptOutput } from "../execution/kept-output.ts";
import { injectCredentials } from "../operators/inject-credentials.ts";
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

const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;

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
    const [stdout, stderr] = [hiddenOutput(values, request, "stdout"), hiddenOutput(values, request, "stderr")];
    // Without its store: what the executor keeps whole would have the values.
    const {
      stdoutBlob: _stdout,
      stderrBlob: _stderr,
      ...response
    } = await run({
      blobs: undefined,
      env: { ...request.env, ...injected.env },
      onOutput: (stream, text) => (stream === "stdout" ? stdout : stderr).push(text),
    });
    const hidden = { stdout: stdout.end(response.stdout), stderr: stderr.end(response.stderr) };
    const [stdoutBlob, stderrBlob] = [await stdout.blob(), await stderr.blob()];
    return { ...response, ...hidden, ...(stdoutBlob && { stdoutBlob }), ...(stderrBlob && { stderrBlob }) } as Response;
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

interface HiddenOutput {
  push(text: string): void;
  /** @param whole what the executor kept itself, for one that told nothing meanwhile */
  end(whole: string): string;
  blob: KeptOutput["blob"];
}

/** Values are hidden before output is cut: half of one would not be known again. */
function hiddenOutput(values: readonly string[], request: ExecuteRequest, stream: "stdout" | "stderr"): HiddenOutput {
  const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = request;
  const kept = createKeptOutput(maxOutputBytes, request.blobs);
  const hider = createValueHider(values);
  let wasTold = false;
  const tell = (text: string): void => {
    if (text === "") return;
    kept.push(Buffer.from(text, "utf8"));
    request.onOutput?.(stream, text);
  };
  return {
    push(text) {
      wasTold = true;
      tell(hider.push(text));
    },
    end(whole) {
      if (!wasTold) tell(hider.push(whole));
      tell(hider.end());
      return kept.text();
    },
    blob: () => kept.blob(),
  };
}
