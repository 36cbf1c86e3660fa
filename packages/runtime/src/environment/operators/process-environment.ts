import { fileURLToPath } from "node:url";
import { EnvironmentError, type Environment, type SecretResolver } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { withoutSecrets } from "../execution/child-environment.ts";
import { createProcessExecutor } from "../execution/process-executor.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { atEnvironmentBoundary } from "./at-environment-boundary.ts";
import { checkProvided, type Provided } from "./check-provided.ts";
import { startChildProcess } from "./child-process-link.ts";
import { heapFlags } from "./heap-flags.ts";
import { heldCredentials } from "./held-credentials.ts";
import { injectCredentials } from "./inject-credentials.ts";
import { OperatorProcess } from "./operator-process.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface ProcessEnvironmentOptions {
  /** The module that calls `serveOperator`: a path or a file URL. Without one it runs no operators. */
  readonly module?: string | URL | undefined;
  /** Arguments of the module. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Where processes start, and the root of the files that tools get. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Added to what is inherited. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Inherited variables that are passed on although their names or values look like secrets (`*_API_KEY`, `*_TOKEN`, a URL with a password, …). Default: none. */
  readonly passSecrets?: readonly string[] | "all" | undefined;
  /** Resolves the credentials of a spec. */
  readonly secrets?: SecretResolver | undefined;
  /** How long an operator may take to end once its run is aborted, and its process once it has answered. Default 2000. */
  readonly killGraceMs?: number | undefined;
}

const PROVIDED: Provided = {
  name: "The process environment",
  boundaries: ["process"],
  resources: ["memory"],
  injections: ["env-var", "file"],
  hasNetworkRules: false,
  hasSandboxes: false,
};

/**
 * Runs an operator in a process of its own, one for each run: a crash there is an EnvironmentError here. Its execution context is that of
 * the run, over messages, so its steps are recorded in the run's log. The process has the rights of this one: it is a boundary
 * against crashes, not against what the operator does. `resources.memory` bounds what its JavaScript holds.
 *
 * ```ts
 * const environment = createProcessEnvironment({ module: new URL("./summarise.js", import.meta.url) });
 * ```
 *
 * Tools of runs get the files below `cwd`, and programs that are processes of their own anyway.
 *
 * Rejects with EnvironmentError: `provision-failed` for a spec that a process can't hold, or a module that can't be started;
 * `credential-failed`; `resource-exceeded`; `cancelled`; `operator-error` with what the operator failed with, or that its process ended.
 */
export function createProcessEnvironment(options: ProcessEnvironmentOptions): Environment {
  checkOptionNames("createProcessEnvironment", options, {
    module: true,
    args: true,
    cwd: true,
    env: true,
    passSecrets: true,
    secrets: true,
    killGraceMs: BOUND_OPTION,
  });
  const { module, args = [], cwd = process.cwd(), killGraceMs = 2000 } = options;
  const path = module instanceof URL || module?.startsWith("file:") ? fileURLToPath(module) : module;
  return {
    async run(input, spec, context) {
      checkProvided(spec, PROVIDED);
      if (path === undefined)
        throw new EnvironmentError({ kind: "provision-failed", message: `${PROVIDED.name} was made without a \`module\` to run.` });
      const heap = heapFlags(spec);
      await using credentials = await injectCredentials(spec.credentials, options.secrets, context.signal);
      const env = { ...withoutSecrets(process.env, options.passSecrets ?? []), ...options.env, ...credentials.env };
      try {
        const started = { args: [...heap, path, ...args], cwd, env, killGraceMs };
        await using operator = await OperatorProcess.start(() => startChildProcess(started), started, context.signal);
        return await operator.execute(input, context);
      } catch (error) {
        throw atEnvironmentBoundary(error);
      }
    },

    async open(spec, { signal }) {
      // What a command holds in memory is not bounded here.
      checkProvided(spec, { ...PROVIDED, resources: [] });
      const { env, passSecrets, secrets } = options;
      const exec = createProcessExecutor({ cwd, env, passSecrets, killGraceMs });
      const files = createDiskVfs({ root: cwd });
      const held = await heldCredentials(exec, spec.credentials, secrets, signal);
      return { files, exec: held, async [Symbol.asyncDispose]() {} };
    },
  };
}
