import { execFile } from "node:child_process";
import { access, constants, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { cannotRun } from "./cannot-run.ts";
import { isWithin } from "./policy-path.ts";

// `--disable-userns` and `--size` came with it.
const LEAST_VERSION = [0, 8] as const;
const WAIT_MS = 10_000;

/**
 * The path of bubblewrap, once it is known to make a sandbox here. One that stands where commands can write is not taken: a command
 * could have put it there.
 * @throws EnvironmentError of kind `provision-failed` with the reason why it doesn't
 */
export async function findBubblewrap(named?: string, writable: readonly string[] = []): Promise<string> {
  if (process.platform !== "linux") throw cannotRun(`it needs Linux, and this is ${process.platform}`);
  const path = named === undefined ? await programPath("bwrap", writable) : await programPath(named);
  if (path === undefined)
    throw cannotRun(
      `there is no ${named ?? "bwrap"}: install bubblewrap, as in \`apt-get install bubblewrap\` or \`dnf install bubblewrap\``,
    );
  const run = promisify(execFile);
  const version = await run(path, ["--version"], { env: {}, timeout: WAIT_MS }).then(
    ({ stdout }) => /(\d+)\.(\d+)/.exec(stdout),
    (error: unknown) => cannotRun(`${path} does not run: ${messageOf(error)}`),
  );
  if (version instanceof Error) throw version;
  const [, major, minor] = version ?? [];
  if (Number(major) < LEAST_VERSION[0] || (Number(major) === LEAST_VERSION[0] && Number(minor) < LEAST_VERSION[1]))
    throw cannotRun(`${path} is ${major}.${minor}, and bubblewrap ${LEAST_VERSION.join(".")} or newer is needed`);
  const trial = [
    "--unshare-user",
    "--unshare-all",
    "--disable-userns",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--",
    "/usr/bin/env",
    "true",
  ];
  try {
    await run(path, trial, { env: { PATH: "/usr/bin:/bin" }, timeout: WAIT_MS });
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    throw cannotRun(
      `${path} can't make one: ${(stderr.trim() || messageOf(error)).split("\n")[0]}. Many systems let only some programs make user namespaces: see the sysctls kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns, or the settings of the container that this runs in`,
    );
  }
  return path;
}

/** Where a program stands in `PATH`, but for folders in `except`. */
export async function programPath(program: string, except: readonly string[] = []): Promise<string | undefined> {
  const candidates = isAbsolute(program)
    ? [program]
    : (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter).flatMap((folder) => (isAbsolute(folder) ? [join(folder, program)] : []));
  for (const candidate of candidates) {
    const real = await access(candidate, constants.X_OK).then(
      () => realpath(candidate),
      () => undefined,
    );
    if (real !== undefined && ![candidate, real].some((path) => except.some((folder) => isWithin(path, folder)))) return candidate;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
