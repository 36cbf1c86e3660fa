import { spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, open, readdir, readFile, readlink } from "node:fs/promises";
import { EnvironmentError } from "@keelson/protocol";
import { programPath } from "../sandbox/find-bubblewrap.ts";
import { type MountEntry, readMountTable } from "../sandbox/mount-table.ts";

/** An overlayfs over a folder, mounted in namespaces that nothing but this object keeps alive. */
export interface OverlayMount extends AsyncDisposable {
  /** Where this process reaches what is in the mount, through a descriptor: there is no path to it outside of its namespace. */
  readonly root: string;
  /** Of the mount, to know folders by that are opened through it. */
  readonly device: number;
  /** What a command begins with that runs where the mount stands in the place of the base. */
  readonly enter: readonly string[];
  /** The mounts there. */
  readonly table: readonly MountEntry[];
}

// In the new namespace we are its root, which may mount; those who come after get other ids and no capability.
const MOUNT = 'mount -t overlay overlay -o "$1" "$2" && echo mounted && read -r _';

/**
 * Mounts over `base` in a user and a mount namespace of its own. The process that does so is gone when this resolves: open descriptors
 * of the namespaces keep them, and end them with this process, however that ends.
 * @throws EnvironmentError of kind `provision-failed` with the reason, where the kernel or the system refuses
 */
export async function mountOverlay(base: string, upper: string, work: string): Promise<OverlayMount> {
  const options = [`lowerdir=${escaped(base)}`, `upperdir=${escaped(upper)}`, `workdir=${escaped(work)}`, "userxattr", "index=off"].join(
    ",",
  );
  // No program is taken from what commands wrote and a commit brought into the base.
  const [unshare, nsenter] = [await programPath("unshare", [base]), await programPath("nsenter", [base])];
  if (unshare === undefined || nsenter === undefined) throw cannotMount("there is no unshare or nsenter");
  const child = spawn(
    unshare,
    ["--user", "--map-root-user", "--mount", "--propagation", "private", "/bin/sh", "-c", MOUNT, "sh", options, base],
    { cwd: "/", env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" }, stdio: ["pipe", "pipe", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => void (said += chunk.toString("utf8")));
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(String(error)));
    child.once("close", () => resolve(""));
  });
  const ready = await Promise.race([once(child.stdout, "data").then(() => true), ended]);
  if (ready !== true) throw cannotMount((said.trim() || ready || "no reason was given").split("\n")[0] ?? "");
  const handles: FileHandle[] = [];
  const close = async (): Promise<void> => {
    for (const handle of handles) await handle.close();
  };
  let table: readonly MountEntry[];
  try {
    for (const path of ["ns/user", "ns/mnt", `root${base}`]) handles.push(await open(`/proc/${child.pid}/${path}`, "r"));
    table = await readMountTable(child.pid ?? 0);
  } catch (error) {
    await close();
    throw error;
  } finally {
    child.stdin.end();
    await ended;
  }
  const [user, mounts, root] = handles as [FileHandle, FileHandle, FileHandle];
  const here = `/proc/${process.pid}/fd`;
  return {
    root: `/proc/self/fd/${root.fd}`,
    device: (await root.stat()).dev,
    enter: [nsenter, "--preserve-credentials", `--user=${here}/${user.fd}`, `--mount=${here}/${mounts.fd}`, "--"],
    table,
    [Symbol.asyncDispose]: close,
  };
}

function cannotMount(reason: string): EnvironmentError {
  return new EnvironmentError({
    kind: "provision-failed",
    message: `overlayfs can't be mounted here: ${reason}. It needs Linux, unshare, nsenter and mount of util-linux, and user namespaces that may mount`,
  });
}

/** Commas and colons part options and layers. */
function escaped(path: string): string {
  return path.replace(/[\\,:]/g, "\\$&");
}

/** Whether a process has an overlayfs with this upper folder, as the commands of a killed process do for a moment. */
export async function isMountedAnywhere(upper: string): Promise<boolean> {
  const option = `upperdir=${escaped(upper)},`;
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const seen = new Set<string>();
  for (const pid of processes) {
    // Those that are gone meanwhile, or that others started, have none.
    const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined);
    if (namespace === undefined || seen.has(namespace)) continue;
    seen.add(namespace);
    const text = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
    if (unescapedMounts(text).includes(option)) return true;
  }
  return false;
}

/** The kernel writes some characters of paths as three octal digits. */
function unescapedMounts(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
