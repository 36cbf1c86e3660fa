import type { ExecuteResponse } from "@keelson/protocol";

// The file is a mount of its own: git can write its lock, and can't put it in the place of the file.
const GIT_SETTINGS =
  /could not (?:write|lock) config file \S*config\S*: (?:Device or resource busy|Read-only file system|Permission denied)/;

// SSH and others look up names by themselves, which the network of the sandbox cannot.
const NO_NAMES =
  /Could not resolve host(?:name)?|Temporary failure in name resolution|Name or service not known|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|dial tcp: lookup|Network is unreachable/i;

/** Returns a line about each thing that the sandbox refused to a command, with the way on. */
export function sandboxNotes(
  {
    refusedHosts = [],
    memoryLimit,
    exitCode = 0,
    stdout,
    stderr,
  }: Pick<ExecuteResponse, "refusedHosts" | "memoryLimit" | "stdout" | "stderr"> & { readonly exitCode?: number | null },
  { isConfined }: { readonly isConfined: boolean },
): readonly string[] {
  const notes: string[] = [];
  const hosts = [...new Set(refusedHosts.map((host) => host.replace(/:\d+$/, "")))];
  if (hosts.length > 0)
    notes.push(
      `[the sandbox refused connections to ${refusedHosts.join(", ")}. To have them opened, which a person decides, run it again with hosts: ${JSON.stringify(hosts)}]`,
    );
  if (isConfined && hosts.length === 0 && exitCode !== 0 && NO_NAMES.test(`${stderr}\n${stdout}`))
    notes.push(
      "[the sandbox has no network but its proxy, which HTTP_PROXY and HTTPS_PROXY name. What does not use it, such as SSH, has to run with outside: true and a reason; a person decides]",
    );
  if (memoryLimit !== undefined)
    notes.push(
      `[it reached its limit of memory, ${inGiB(memoryLimit)}, and the kernel ended a process of it or gave it no more: use less at a time]`,
    );
  if (isConfined && GIT_SETTINGS.test(`${stderr}\n${stdout}`))
    notes.push(
      "[.git/config is read-only in the sandbox, because git runs programs that it names. Run the git command again with outside: true and a reason; a person decides]",
    );
  return notes;
}

function inGiB(bytes: number): string {
  return bytes < 1024 ** 3 ? `${Math.round(bytes / 1024 ** 2)} MiB` : `${Number((bytes / 1024 ** 3).toFixed(1))} GiB`;
}
