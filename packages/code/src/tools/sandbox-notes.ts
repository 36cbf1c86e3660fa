import type { ExecuteResponse } from "@keelson/protocol";

// The file is a mount of its own: git can write its lock, and can't put it in the place of the file.
const GIT_SETTINGS =
  /could not (?:write|lock) config file \S*config\S*: (?:Device or resource busy|Read-only file system|Permission denied)/;

/** Returns a line about each thing that the sandbox refused to a command, with the way on. */
export function sandboxNotes(
  { refusedHosts = [], memoryLimit, stdout, stderr }: Pick<ExecuteResponse, "refusedHosts" | "memoryLimit" | "stdout" | "stderr">,
  { isConfined }: { readonly isConfined: boolean },
): readonly string[] {
  const notes: string[] = [];
  const hosts = [...new Set(refusedHosts.map((host) => host.replace(/:\d+$/, "")))];
  if (hosts.length > 0)
    notes.push(
      `[the sandbox refused connections to ${refusedHosts.join(", ")}. To have them opened, which a person decides, run it again with hosts: ${JSON.stringify(hosts)}]`,
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
