import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { cannotRun } from "../cannot-run.ts";
import { programPath } from "../find-bubblewrap.ts";

/** A network and a file system in memory, in namespaces that nothing but the open descriptors of this process keep alive. */
export interface HeldNamespaces extends Disposable {
  /** A command begins with it to run in the network and to see the file system. */
  readonly enter: readonly string[];
  /** A command begins with it to run in the network alone. */
  readonly enterNetwork: readonly string[];
  /** The folder of the file system, for those that entered. It holds the folders `tmp` and `var-tmp`. */
  readonly folder: string;
  /** The same folder, for this process. */
  readonly seen: string;
}

// No root of a policy is below /sys, and each sandbox has another /sys: here the mount hides nothing.
const FOLDER = "/sys/kernel";
const HOLD = `cd ${FOLDER} && mkdir tmp var-tmp && chmod 1777 tmp var-tmp && echo held && read -r _`;
const STATUS_FD = 3;
const START_LIMIT_MS = 30_000;

/**
 * Makes the namespaces with bubblewrap, which brings up the loopback interface. Its process has ended when this resolves, so that there is none that
 * a command could trace.
 * @param writable folders that commands may write: no program is taken from there
 * @throws EnvironmentError of kind `provision-failed` with the reason
 */
export async function holdNamespaces(bubblewrap: string, bytes: number, writable: readonly string[] = []): Promise<HeldNamespaces> {
  const nsenter = await programPath("nsenter", writable);
  if (nsenter === undefined) throw cannotRun("nsenter, of the package util-linux, is not installed");
  const own = ["--perms", "0755", "--size", String(bytes), "--tmpfs", FOLDER];
  const child = spawn(
    bubblewrap,
    [
      ...["--unshare-user", "--unshare-net", "--die-with-parent", "--new-session", "--dev-bind", "/", "/", ...own],
      ...["--json-status-fd", String(STATUS_FD), "--", "/bin/sh", "-c", HOLD],
    ],
    { cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio: ["pipe", "pipe", "pipe", "pipe"] },
  );
  const ended = new Promise<void>((resolve) => void child.once("error", () => resolve()).once("exit", () => resolve()));
  const [errors, status] = [text(child.stderr), firstProcess(child.stdio[STATUS_FD])];
  // It is awaited only if the namespaces are held.
  status.catch(() => {});
  child.stdin.on("error", () => {});
  const limit = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
  const isHeld = await Promise.race([
    new Promise<true>((resolve) => child.stdout.on("data", () => resolve(true))),
    ended.then(() => false),
  ]);
  clearTimeout(limit);
  if (!isHeld) throw cannotRun(`bubblewrap says: ${(await errors).trim() || "nothing"}`);
  const descriptors: number[] = [];
  const close = (): void => {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  };
  try {
    const pid = await status;
    for (const path of ["ns/user", "ns/net", "ns/mnt", `root${FOLDER}`]) descriptors.push(openSync(`/proc/${pid}/${path}`, "r"));
  } catch (error) {
    close();
    throw cannotRun(`its namespaces can't be held: ${String(error)}`);
  } finally {
    child.stdin.end();
    await ended;
  }
  const [user, network, mounts, folder] = descriptors.map((descriptor) => `/proc/${process.pid}/fd/${descriptor}`);
  const enterNetwork = [nsenter, "--preserve-credentials", `--user=${user}`, `--net=${network}`];
  const enter = [...enterNetwork, `--mount=${mounts}`, "--"];
  try {
    await tryEntry(enter, bubblewrap);
  } catch (error) {
    close();
    throw error;
  }
  return {
    enter,
    enterNetwork: [...enterNetwork, "--"],
    folder: FOLDER,
    seen: folder ?? "",
    [Symbol.dispose]: close,
  };
}

/** Makes an empty sandbox in the namespaces: some systems and some nsenter refuse what is needed for that. */
async function tryEntry(enter: readonly string[], bubblewrap: string): Promise<void> {
  const [program = "", ...args] = [...enter, bubblewrap, "--unshare-user", "--ro-bind", "/", "/", "--", "/bin/sh", "-c", "exit 0"];
  const child = spawn(program, args, { cwd: "/", env: {}, stdio: ["ignore", "ignore", "pipe"], timeout: START_LIMIT_MS });
  const errors = text(child.stderr);
  const code = await new Promise<number | null>((resolve) => void child.once("error", () => resolve(null)).once("exit", resolve));
  if (code !== 0) throw cannotRun(`no sandbox can be made in its namespaces: ${(await errors).trim() || "no reason was given"}`);
}

/** Resolves with the number of the first process inside; rejects if there is none. */
async function firstProcess(stream: unknown): Promise<number> {
  if (!(stream instanceof Readable)) throw new TypeError("bubblewrap was started without a descriptor for its status");
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let told = "";
  stream.on("data", (chunk) => {
    told += String(chunk);
    const pid = /"child-pid": (\d+)/.exec(told)?.[1];
    if (pid !== undefined) resolve(Number(pid));
  });
  stream.once("close", () => reject(new Error("bubblewrap told no process")));
  return promise;
}
