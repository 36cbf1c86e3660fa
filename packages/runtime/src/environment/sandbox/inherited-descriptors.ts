import { readdir, readFile } from "node:fs/promises";

const CLOSE_ON_EXEC = 0o2000000;

/** Open descriptors above 2 that programs started by this process get without being given them: whoever started us left them open. */
export async function inheritedDescriptors(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc/self/fdinfo")) {
    // One that was closed meanwhile, such as that of the folder.
    const info = await readFile(`/proc/self/fdinfo/${name}`, "latin1").catch(() => "");
    const flags = /^flags:\s*(\d+)$/m.exec(info)?.[1];
    if (Number(name) > 2 && flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) found.push(Number(name));
  }
  return found;
}
