import { spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { EnvironmentError } from "@keelson/protocol";

/** An overlayfs over a folder, mounted in namespaces that nothing but this object keeps alive. */
export interface OverlayMount extends AsyncDisposable {
  /** Where this process reaches what is in the mount, through a descriptor: there is no path to it outside of its namespace. */
  readonly root: string;
  /** Of the mount, to know folders by that are opened through it. */
  readonly device: number;
  /** What a command begins with that runs where the mount stands in the place of the base. */
  readonly enter: readonly string[];
}

// In the new namespace we are its root, which may mount; those who come after get other ids and no capability.
const MOUNT = 'mount -t overlay overlay -o "$1" "$2" && echo mounted && read -r _';

/**
 * Mounts over `base` in a user and a mount namespace of its own. The process that does so is gone when this resolves: open descriptors
 * of the namespaces keep them, and end them with this process, however that ends.
 * @throws EnvironmentError of kind `provision-failed` with the reason, where the kernel or the system refuses
 */
export async function mountOverlay(base: string, upper: string, work: string): Promise<OverlayMount> {
  const options = [`lowerdir=${escaped(base)}`, `upperdir=${escaped(upper)}`, `workdir=${escaped(work)}`, "userxattr"].join(",");
  const child = spawn(
    "unshare",
    ["--user", "--map-root-user", "--mount", "--propagation", "private", "/bin/sh", "-c", MOUNT, "sh", options, base],
    { cwd: "/", env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" }, stdio: ["pipe", "pipe", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => void (said += chunk.toString("utf8")));
  const failed = once(child, "error").then(([error]) => String(error));
  const ended = once(child, "exit").then(() => "");
  const ready = await Promise.race([once(child.stdout, "data").then(() => true), failed, ended]);
  if (ready !== true)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `overlayfs can't be mounted here: ${(said.trim() || ready || "no reason was given").split("\n")[0]}. It needs Linux, unshare and mount of util-linux, and user namespaces that may mount`,
    });
  const handles: FileHandle[] = [];
  try {
    for (const path of ["ns/user", "ns/mnt", `root${base}`]) handles.push(await open(`/proc/${child.pid}/${path}`, "r"));
  } finally {
    child.stdin.end();
    await ended;
  }
  const [user, mounts, root] = handles as [FileHandle, FileHandle, FileHandle];
  const here = `/proc/${process.pid}/fd`;
  return {
    root: `/proc/self/fd/${root.fd}`,
    device: (await root.stat()).dev,
    enter: ["nsenter", "--preserve-credentials", `--user=${here}/${user.fd}`, `--mount=${here}/${mounts.fd}`, "--"],
    async [Symbol.asyncDispose]() {
      for (const handle of handles) await handle.close();
    },
  };
}

/** Commas and colons part options and layers. */
function escaped(path: string): string {
  return path.replace(/[\\,:]/g, "\\$&");
}
