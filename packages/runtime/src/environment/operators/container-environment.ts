import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EnvironmentError, type Environment, type SecretResolver } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { ContainerMount } from "../container/container-config.ts";
import { atEnvironmentBoundary } from "./at-environment-boundary.ts";
import { checkProvided, type Provided } from "./check-provided.ts";
import { heapFlags } from "./heap-flags.ts";
import { injectCredentials } from "./inject-credentials.ts";
import { LINK_VARIABLE, STDIO_LINK } from "./link-to-starter.ts";
import { OperatorProcess } from "./operator-process.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface ContainerEnvironmentOptions {
  /** The module that calls `serveOperator`, as the container sees it: a path or a file URL. */
  readonly module: string | URL;
  /** Where a spec names none. It must be there, and have a `node` of version 22 or later in its `PATH`. */
  readonly image?: string | undefined;
  /** Mounted at the same path, writable, where operators start. */
  readonly workspace: string;
  /** What else is mounted, read-only unless it says otherwise. */
  readonly mounts?: readonly ContainerMount[] | undefined;
  /** As in `1000:1000`. Default: that of this process. */
  readonly user?: string | undefined;
  /** Arguments of the module. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Of Node. Default: none. */
  readonly nodeArgs?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Resolves the credentials of a spec. */
  readonly secrets?: SecretResolver | undefined;
  /** Default: `DOCKER_HOST`, else the socket at the usual place. */
  readonly host?: string | undefined;
  /** How long an operator may take to end once its run is aborted. Default 2000. */
  readonly killGraceMs?: number | undefined;
}

const PROVIDED: Provided = {
  name: "The container environment",
  boundaries: ["process", "container", "gvisor"],
  resources: ["memory", "cpu"],
  injections: ["env-var", "file"],
  // Which it can hold is looked at where the container is planned.
  hasNetworkRules: true,
  hasSandboxes: false,
};

/**
 * Runs each operator in a container of its own, which a Docker daemon makes and which is removed at the end. Without a network, unless the spec has
 * `network: { default: "allow", rules: [] }`. Written from the documentation of the Engine API, and tested on an imitation of it: it was not run on a
 * Docker daemon.
 *
 * Rejects with EnvironmentError: `provision-failed` for what a container can't hold, and where the daemon can't make it; `credential-failed`;
 * `resource-exceeded`; `cancelled`; `operator-error` with what the operator failed with, or that its process ended.
 */
export function createContainerEnvironment(options: ContainerEnvironmentOptions): Environment {
  checkOptionNames("createContainerEnvironment", options, {
    module: true,
    image: true,
    workspace: true,
    mounts: true,
    user: true,
    args: true,
    nodeArgs: true,
    env: true,
    secrets: true,
    host: true,
    killGraceMs: BOUND_OPTION,
  });
  const { module, args = [], nodeArgs = [], mounts = [], env = {}, killGraceMs = 2000 } = options;
  const path = module instanceof URL || module.startsWith("file:") ? fileURLToPath(module) : module;
  const workspace = resolve(options.workspace);
  let swept: Promise<void> | undefined;
  return {
    async run(input, spec, context) {
      checkProvided(spec, PROVIDED);
      // Only those who have containers need what makes them.
      const [{ connectToDocker }, { containerConfig }, { OWNER_LABEL, removeOrphans, thisOwner }, { startInContainer }] = await Promise.all(
        [
          import("../container/docker-engine.ts"),
          import("../container/container-config.ts"),
          import("../container/container-owner.ts"),
          import("./container-link.ts"),
        ],
      );
      const command = [...nodeArgs, ...heapFlags(spec), isAbsolute(path) ? path : resolve(workspace, path), ...args];
      await using credentials = await injectCredentials(spec.credentials, options.secrets, context.signal);
      const folder = credentials.env["KEELSON_CREDENTIALS"];
      const config = containerConfig(spec, {
        image: options.image,
        command: ["node", ...command],
        cwd: workspace,
        user: options.user ?? userOfThis(),
        env: { ...env, ...credentials.env, [LINK_VARIABLE]: STDIO_LINK },
        mounts: [{ source: workspace, readOnly: false }, ...mounts, ...(folder === undefined ? [] : [{ source: folder }])],
        labels: { [OWNER_LABEL]: await thisOwner(), "keelson.run": context.runId },
      });
      const engine = connectToDocker(options.host ?? process.env["DOCKER_HOST"]);
      if (spec.isolation.some(({ type }) => type === "gvisor")) await checkRunsc((await engine.call("GET", "/info")).body);
      await (swept ??= removeOrphans(engine).catch((error: unknown) => {
        swept = undefined;
        throw error;
      }));
      try {
        const started = { args: command, killGraceMs };
        const link = () => startInContainer(engine, config, context.signal);
        await using operator = await OperatorProcess.start(link, started, context.signal);
        return await operator.execute(input, context);
      } catch (error) {
        throw atEnvironmentBoundary(error);
      }
    },
  };
}

function checkRunsc(info: unknown): void {
  const runtimes = (info as { readonly Runtimes?: object }).Runtimes ?? {};
  if (!Object.hasOwn(runtimes, "runsc"))
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `The Docker daemon has no runtime "runsc", which is gVisor (it has ${Object.keys(runtimes).join(", ") || "none"}). Install it there, or ask for a container.`,
    });
}

function userOfThis(): string | undefined {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  return user === undefined || group === undefined ? undefined : `${user}:${group}`;
}
