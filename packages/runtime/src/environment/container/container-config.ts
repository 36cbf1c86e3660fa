import { EnvironmentError, type EnvironmentSpec } from "@keelson/protocol";
import { parseSize } from "../sandbox/parse-size.ts";
import { policyFromEnvironmentSpec } from "../sandbox/policy-from-config.ts";

export interface ContainerMount {
  /** A folder or file of the machine of the daemon. */
  readonly source: string;
  /** Where it is in the container. Default: at the same path. */
  readonly target?: string | undefined;
  /** Default true. */
  readonly readOnly?: boolean | undefined;
}

export interface ContainerPlan {
  /** Where a spec names none. */
  readonly image: string | undefined;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly user: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly ContainerMount[];
  readonly labels: Readonly<Record<string, string>>;
}

const MAX_PROCESSES = 2048;

/**
 * What a daemon is told to make of a spec.
 * @throws EnvironmentError `provision-failed` for what a container can't hold
 */
export function containerConfig(spec: EnvironmentSpec, plan: ContainerPlan): unknown {
  const asked = spec.isolation.flatMap((boundary) =>
    boundary.type === "container" && boundary.image !== undefined ? [boundary.image] : [],
  );
  const image = asked[0] ?? plan.image;
  if (image === undefined || asked.some((other) => other !== image))
    throw notProvided('A container has one image: name it in the spec (`{ type: "container", image }`) or in createContainerEnvironment');
  const { resources } = policyFromEnvironmentSpec({ isolation: [], credentials: [], ...(spec.resources && { resources: spec.resources }) });
  const memory = resources?.memory === undefined ? undefined : parseSize(resources.memory);
  return {
    Image: image,
    Cmd: plan.command,
    // That of the image could be anything.
    Entrypoint: [],
    WorkingDir: plan.cwd,
    Env: Object.entries(plan.env).map(([name, value]) => `${name}=${value}`),
    Labels: plan.labels,
    ...(plan.user !== undefined && { User: plan.user }),
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      Mounts: plan.mounts.map(({ source, target = source, readOnly = true }) => ({
        Type: "bind",
        Source: source,
        Target: target,
        ReadOnly: readOnly,
      })),
      NetworkMode: networkOf(spec),
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      PidsLimit: MAX_PROCESSES,
      // Somebody has to collect processes that ended.
      Init: true,
      // Without this, half of the memory again may be swapped.
      ...(memory !== undefined && { Memory: memory, MemorySwap: memory }),
      ...(resources?.cpus !== undefined && { NanoCpus: Math.round(resources.cpus * 1e9) }),
      ...(spec.isolation.some(({ type }) => type === "gvisor") && { Runtime: "runsc" }),
    },
  };
}

/** No network at all, or all of it: Docker filters no hosts. */
function networkOf({ network }: EnvironmentSpec): "none" | "bridge" {
  if (network === undefined || (network.default === "deny" && network.rules.every(({ action }) => action === "deny"))) return "none";
  if (network.default === "allow" && network.rules.every(({ action }) => action === "allow")) return "bridge";
  throw notProvided("A container reaches every host or none: Docker holds no list of hosts");
}

function notProvided(why: string): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `${why}. Change the spec, or use another environment.` });
}
