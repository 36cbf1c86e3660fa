import type { ExecuteResponse } from "@keelson/protocol";
import { cannotRun } from "./cannot-run.ts";
import { type ControlGroup, createControlGroup } from "./control-group.ts";
import { programPath } from "./find-bubblewrap.ts";
import { memorySize } from "./memory-size.ts";
import { parseSize } from "./parse-size.ts";
import { DEFAULT_PROCESSES, type SandboxPolicy } from "./sandbox-policy.ts";

/** Returns the start of a command line that runs a command under the limits of a policy. */
export async function limitArguments({ resources = {} }: SandboxPolicy): Promise<string[]> {
  const limits = {
    nproc: resources.processes ?? DEFAULT_PROCESSES,
    data: memoryOf(resources),
    fsize: sizeOf(resources.fileSize),
    nofile: resources.openFiles,
    cpu: resources.cpuSeconds,
    // A dump of memory could contain secrets of the command. With 0 the kernel still gives it to a program that collects dumps; a limit
    // of one byte prevents that (core(5)).
    core: 1,
  };
  const prlimit = (await programPath("/usr/bin/prlimit")) ?? (await programPath("/bin/prlimit"));
  if (prlimit === undefined) throw cannotRun("its limits need prlimit, of the package util-linux");
  return [prlimit, ...Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])), "--"];
}

/** Returns the policy without its limit of memory. */
export function withoutMemory(policy: SandboxPolicy): SandboxPolicy {
  const { memory: _, ...resources } = policy.resources ?? {};
  return { ...policy, resources };
}

/** Returns the bytes of memory that a policy allows; `undefined` if it does not limit them. */
export function memoryOf({ memory }: NonNullable<SandboxPolicy["resources"]>): number | undefined {
  return memory === undefined ? undefined : memorySize(memory);
}

// Programs name it so when they are given no more memory.
const NO_MEMORY = /Cannot allocate memory|\bMemoryError\b|std::bad_alloc|\bENOMEM\b|out of memory|memory allocation of \d+ bytes failed/i;

/** Returns the limit of memory that a command reached, if it did. Without a group the words of the command are all that tells. */
export async function reachedMemory(
  { resources = {} }: SandboxPolicy,
  group: ControlGroup | undefined,
  { exitCode, stdout, stderr }: Pick<ExecuteResponse, "exitCode" | "stdout" | "stderr">,
): Promise<number | undefined> {
  const limit = memoryOf(resources);
  if (limit === undefined) return undefined;
  if ((await group?.ranOutOfMemory()) === true) return limit;
  return exitCode !== 0 && NO_MEMORY.test(`${stdout}\n${stderr}`) ? limit : undefined;
}

function sizeOf(given: number | string | undefined): number | undefined {
  return given === undefined ? undefined : parseSize(given);
}

/** @throws EnvironmentError `provision-failed` if a limit needs a control group and none can be made */
export async function controlGroupFor({ resources = {} }: SandboxPolicy): Promise<ControlGroup | undefined> {
  const { processes, cpus } = resources;
  const group = await createControlGroup({ processes: processes ?? DEFAULT_PROCESSES, memory: memoryOf(resources), cpus });
  const needs =
    group?.boundsProcesses !== true && processes !== undefined && process.getuid?.() === 0
      ? // The kernel does not count the processes of the root user, so that only a group can limit them.
        "the number of processes of the root user"
      : group?.boundsCpus !== true && cpus !== undefined
        ? "the processors that it uses"
        : undefined;
  if (needs === undefined) return group;
  await group?.remove();
  throw cannotRun(`${needs} can't be limited without a control group, and none can be made here`);
}
