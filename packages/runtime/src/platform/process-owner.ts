// Modules of Node are loaded where they are used: with static imports, importing this package would load all of their streams.

/**
 * Names this process as the owner of leases, so that others on this host can tell when it is dead: process id and host,
 * then start time, boot and process namespace, since ids are used again. Give `instance` where several owners in one
 * process must keep each other out.
 */
export function processOwner(instance?: string): string {
  self ??= describeSelf();
  return instance === undefined ? self : `${self}:${instance}`;
}

/**
 * True when `owner` names a process that is known to have ended. False when it lives, and when nobody here can know: on
 * another host, in another container, or for a name that {@link processOwner} did not make.
 */
export function isDeadOwner(owner: string): boolean {
  const [place, start, boot, namespace] = owner.split(":");
  const at = place?.indexOf("@") ?? -1;
  if (place === undefined || at < 1 || namespace === undefined) return false;
  const pid = Number(place.slice(0, at));
  const [ownPlace = "", ownStart, ownBoot, ownNamespace] = processOwner().split(":");
  const isHere = place.slice(at) === ownPlace.slice(ownPlace.indexOf("@")) && boot === ownBoot && namespace === ownNamespace;
  if (!isHere || !Number.isSafeInteger(pid) || pid < 1) return false;
  if (pid === process.pid) return start !== ownStart;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const running = readProcess(pid);
  return running !== undefined && (running.isZombie || running.start !== start);
}

let self: string | undefined;

function describeSelf(): string {
  // Without /proc the start time can't be compared by others; they then go by the process id and the lease's end.
  const start = readProcess(process.pid)?.start ?? String(Math.round(performance.timeOrigin));
  const boot = readText("/proc/sys/kernel/random/boot_id")?.slice(0, 8) ?? "";
  const namespace = /\d+/.exec(readLink("/proc/self/ns/pid") ?? "")?.[0] ?? "";
  return `${process.pid}@${process.getBuiltinModule("node:os").hostname().replaceAll(":", "-")}:${start}:${boot}:${namespace}`;
}

/** Start time in clock ticks since boot, from Linux's /proc; undefined where that can't be read. */
function readProcess(pid: number): { readonly start: string; readonly isZombie: boolean } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in brackets, which may hold spaces and brackets; the third follows the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const start = fields[19];
  return start === undefined ? undefined : { start, isZombie: fields[0] === "Z" || fields[0] === "X" };
}

function readText(path: string): string | undefined {
  try {
    return process.getBuiltinModule("node:fs").readFileSync(path, "utf8");
  } catch {
    // Not Linux, or not ours to see: the caller goes on without knowing.
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return process.getBuiltinModule("node:fs").readlinkSync(path);
  } catch {
    return undefined;
  }
}
