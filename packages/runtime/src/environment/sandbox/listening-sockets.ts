import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

/** Unix sockets that programs of this machine have, as far as they can be found: their real paths. */
export async function listeningSockets(): Promise<readonly string[]> {
  const table = await readFile("/proc/net/unix", "utf8").catch(() => "");
  const names = new Set(table.split("\n").flatMap((line) => /^[0-9a-f]+: \S+ \S+ \S+ \S+ \S+ \d+ ([^@].*)$/.exec(line)?.[1] ?? []));
  const relative = [...names].filter((name) => !isAbsolute(name));
  // The table has the name as it was given; whoever gave it stands in the folder that it is relative to.
  const folders = relative.length === 0 ? [] : await workingDirectories();
  const paths = new Set([...names].filter((name) => isAbsolute(name)));
  for (const name of relative) for (const folder of folders) paths.add(join(folder, name));
  const found = await Promise.all(
    [...paths].map(async (path) => {
      const real = await realpath(path).catch(() => undefined);
      return real !== undefined && (await lstat(real).catch(() => undefined))?.isSocket() ? [real] : [];
    }),
  );
  return [...new Set(found.flat())];
}

async function workingDirectories(): Promise<readonly string[]> {
  const processes = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(processes.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "/")));
  return [...new Set(folders)];
}
